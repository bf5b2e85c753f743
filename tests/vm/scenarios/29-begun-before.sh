# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sessions that start while the loads of the scenario verdict already run, which has more parameters: BEGIN/LENGTH in seconds.
: "${begun:=1/10 6/10 12/2 12/10 60/10}"
# shellcheck source=tests/vm/scenarios/35-verdict.sh
. /job/scenarios/35-verdict.sh
