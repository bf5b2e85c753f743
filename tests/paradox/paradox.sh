#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make paradox`: predicts and measures in guests what 128 slots allow, and what more of them gain. Leaves the results in
# build/paradox, and puts table and figure into docs/PARADOX.md.
#   paradox.sh [v3 | v4.2 | rdma]...   default: all; HOLDS="54 201" (ms), WANTED="16 32 64 128 256 512"
# With either variable set, the page with its tables and the figure go to build/paradox instead.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
# Before 6.14 a server gives a session of this client some 30 slots; from then on it raises them under load.
declare -A kernels=([v3]=6.1 [v4.2]=newest [rdma]=6.1-full)

job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-paradox.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$here/guest.sh" "$job/run.sh"
cp "$top/build/xidscope" "$top/tests/vm/agent-lib.sh" "$job/"
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
	echo "${name#v}" >"$job/version"
	rm -rf "$top/build/paradox/$name"
	"$top/tests/vm/boot.sh" --kernel "${kernels[$name]}" --image paradox --packages "$here/rootfs.packages" --icount \
		--job "$job" --out "$top/build/paradox/$name" --timeout "${TIMEOUT:-3600}"
done
/usr/bin/python3 -B "$here/report.py" "$top/build/paradox" "$top/build/paradox/table.md" "$figure" || status=1
"$here/../docs/put_table.sh" "$page" paradox <"$top/build/paradox/table.md"
exit "${status:-0}"
