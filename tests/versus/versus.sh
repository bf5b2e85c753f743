#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make versus`: the same faults in a guest, seen by each tool; its tables go to build/versus. Fails if cells are not those of
# docs/COMPARISON.md, but for those that are near a limit.
#   versus.sh [--put] [FAULT...]   default: all of faults.tsv; --put: also writes the tables into the pages
# TOOLS="NAME...": these alone.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
vm=$top/tests/vm
out=$top/build/versus
kernel=6.1 # of the same release as the tools

put=
if [[ ${1:-} == --put ]]; then
	put=1
	shift
fi
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-versus.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$here/guest.sh" "$job/run.sh"
cp "$top/build/xidscope" "$vm/agent-lib.sh" "$job/"
cp -r "$("$vm/modules.sh" $kernel)" "$job/modules"
# The bench's program, which shows what it has every 5 s.
{
	cat "$top/tests/bench/peers/rpc.bt"
	echo 'interval:s:5 { print(@total); print(@before); print(@rtt); print(@finish); print(@slot); print(@send); print(@session);'
	echo 'print(@delay); clear(@total); clear(@before); clear(@rtt); clear(@finish); clear(@slot); clear(@send); clear(@session); clear(@delay); }'
} >"$job/rpc.bt"
grep -v '^#' "$here/faults.tsv" | awk -F '\t' -v only="$*" '!only || $1 == "nothing" || index(" " only " ", " " $1 " ") { print $1, $2 }' >"$job/faults"
tr ' ' '\n' <<<"${TOOLS:-}" >"$job/tools"
[[ ${TOOLS:-} ]] || : >"$job/tools"
{
	cat "$here/rootfs.packages"
	echo "linux-headers-$(<"$("$vm/kernel.sh" $kernel)/release")"
} >"$job/packages"
rm -rf "$out"
"$vm/boot.sh" --kernel $kernel --image versus --packages "$job/packages" --memory 3072 --icount --job "$job" --out "$out" \
	--timeout "${TIMEOUT:-3600}"

table() { /usr/bin/python3 -B "$here/table.py" "$out" "$@"; }
page=$top/docs/COMPARISON.md failed=0
table why >"$out/why.txt"
table costs >"$out/costs.md"
for part in page readme; do
	document=$page
	[[ $part == page ]] || document=$top/README.md
	table $part >"$out/$part.md"
	[[ ! $put ]] || "$top/tests/docs/put_table.sh" "$document" versus <"$out/$part.md"
done
[[ $put ]] || (($#)) || table differs "$page" || failed=1
[[ ! $put ]] || "$top/tests/docs/put_table.sh" "$page" versus-costs <"$out/costs.md"
cat "$out/page.md"
exit $failed
