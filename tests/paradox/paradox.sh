#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make paradox`: predicts and measures in guests what 128 slots allow, and what more of them gain. Leaves the results in
# build/paradox, and puts table and figure into docs/PARADOX.md.
#   paradox.sh [v3 | v4.2 | rdma]...   default: all; HOLDS="54 201" (ms), WANTED="16 32 64 128 256 512"
# With either variable set, the page with its tables and the figure go to build/paradox instead.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
. "$top/tests/vm/study.sh"
# Before 6.14 a server gives a session of this client some 30 slots; from then on it raises them under load.
declare -A kernels=([v3]=6.1 [v4.2]=newest [rdma]=6.1-full)

study_begin "$here/guest.sh"
mkdir -p "$top/build/paradox"
page=$top/docs/PARADOX.md figure=$top/docs/pictures/paradox.svg
if [[ ${HOLDS:-}${WANTED:-} ]]; then
	cp "$page" "$top/build/paradox/"
	page=$top/build/paradox/PARADOX.md figure=$top/build/paradox/paradox.svg
fi
tr ' ' '\n' <<<"${HOLDS:-54 201}" >"$job/holds"
# A prediction needs what a call takes with 16 at once.
tr ' ' '\n' <<<"16 ${WANTED:-32 64 128 256 512}" | sort -nu >"$job/wanted"
(($#)) || set -- v3 v4.2 rdma
for name; do
	study_run "$top/build/paradox/$name" "${name#v}" "${kernels[$name]}" --image paradox --packages "$here/rootfs.packages"
done
/usr/bin/python3 -B "$here/report.py" "$top/build/paradox" "$top/build/paradox/table.md" "$figure" || status=1
"$here/../docs/put_table.sh" "$page" paradox <"$top/build/paradox/table.md"
exit "${status:-0}"
