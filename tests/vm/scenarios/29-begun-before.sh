# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sessions that start while the loads of the scenario verdict already run, which has more parameters: BEGIN/LENGTH in seconds,
# and others of some set-ups, as a load of a minute costs as much as the rest.
: "${begun:=1/10 6/10 12/10}" "${later:=12/2 60/10}" "${lasting:=slot send hung}"
# shellcheck source=tests/vm/scenarios/35-verdict.sh
. /job/scenarios/35-verdict.sh
