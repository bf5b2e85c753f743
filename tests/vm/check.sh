#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs all scenarios on the kernels named (default: the ones `make check` stands for) and judges what they leave.
# Prints a line per test and at the end "N passed, N failed, N skipped".
#   check.sh [--only "SCENARIO..."] [KERNEL...]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
only=''
if [[ ${1:-} == --only ]]; then
	only=$2
	shift 2
fi
kernels=("$@")
((${#kernels[@]})) || kernels=(6.1 6.12 newest)
results=$top/build/vm
mkdir -p "$results"

job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-job.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp -r "$here/scenarios" "$here/agent-lib.sh" "$top/build/xidscope" "$job/"
cp "$here/run-scenarios" "$job/run.sh"
echo "$only" >"$job/only"

status=0
: >"$results/verdicts"
for kernel in "${kernels[@]}"; do
	out=$results/$kernel
	rm -rf "$out"
	echo "kernel $kernel:"
	"$here/boot.sh" --kernel "$kernel" --job "$job" --out "$out" --timeout "${TIMEOUT:-900}" || {
		echo "FAIL $kernel: the guest did not finish" | tee -a "$results/verdicts"
	}
	if [[ -d $out ]]; then
		/usr/bin/python3 "$here/verify.py" "$out" "$kernel" "$("$here/tool.sh" prometheus usr/bin/promtool)" |
			tee -a "$results/verdicts"
	fi
done
passed=$(grep -c '^ok ' "$results/verdicts" || true)
failed=$(grep -c '^FAIL ' "$results/verdicts" || true)
skipped=$(grep -c '^skip ' "$results/verdicts" || true)
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
