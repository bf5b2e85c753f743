#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make tuning`: names in guests what keeps too little in flight, and measures what the proposed values gain. Leaves the results
# in build/tuning, and puts the tables into docs/TUNING.md.
#   tuning.sh [v3 | v4.2]...   default: both
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
. "$top/tests/vm/study.sh"
# Before 6.14 a server gives a session of this client some 30 slots.
declare -A kernels=([v3]=6.1 [v4.2]=newest)

study_begin "$here/guest.sh"
(($#)) || set -- v3 v4.2
for name; do
	study_run "$top/build/tuning/$name" "${name#v}" "${kernels[$name]}" --memory 3072
done
PYTHONPATH=$top/tests/vm /usr/bin/python3 -B "$here/report.py" "$top/build/tuning" "$top/build/tuning/table.md" || status=1
"$here/../docs/put_table.sh" "$top/docs/TUNING.md" tuning <"$top/build/tuning/table.md"
exit "${status:-0}"
