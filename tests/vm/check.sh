#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs all scenarios on the kernels named (default: the ones `make check` stands for) and judges what they leave.
# What does not depend on the kernel (the container image, and scenarios from 80 on) is run on the first of them alone.
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

work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
promtool=$("$here/tool.sh" prometheus usr/bin/promtool)
verdicts=$results/verdicts
: >"$verdicts"

# The scenarios' job, and that of the container image.
scenarios=$work/scenarios
mkdir "$scenarios" "$work/container"
cp -r "$here/scenarios" "$here/agent-lib.sh" "${XIDSCOPE:-$top/build/xidscope}" "$top/tests/data" "$scenarios/"
cp "$here/run-scenarios" "$scenarios/run.sh"
echo "$only" >"$scenarios/only"
echo "${SOAK_CALLS:-0}" >"$scenarios/soak_calls"

# boot KERNEL JOB OUT: once more with one thread if it dies as kernels.tsv tells.
boot() {
	local status=0
	rm -rf "$3"
	"$here/boot.sh" --kernel "$1" --job "$2" --out "$3" --timeout "${TIMEOUT:-900}" 2>&1 | tee "$work/console" || status=$?
	if ((status)) && grep -q 'Oops: int3' "$work/console"; then
		echo "the emulator kept a breakpoint that the kernel had removed: once more, with one thread"
		status=0
		"$here/boot.sh" --kernel "$1" --job "$2" --out "$3" --timeout "${TIMEOUT:-900}" \
			--accel tcg,thread=single 2>&1 || status=$?
	fi
	return "$status"
}

for kernel in "${kernels[@]}"; do
	echo "kernel $kernel:"
	[[ $kernel == "${kernels[0]}" ]] || rm -f "$scenarios"/scenarios/[89]*.sh
	rm -rf "$scenarios/modules"
	cp -r "$("$here/modules.sh" "$kernel")" "$scenarios/modules"
	if boot "$kernel" "$scenarios" "$results/$kernel"; then
		/usr/bin/python3 "$here/verify.py" "$results/$kernel" "$kernel" "$promtool" | tee -a "$verdicts"
	else
		echo "FAIL $kernel: the guest did not finish" | tee -a "$verdicts"
	fi
	[[ -z $only && $kernel == "${kernels[0]}" || $only == *container* ]] || continue
	name="$kernel: the image runs under the DaemonSet's and the unit's settings"
	if "$here/container/prepare.sh" "$work/container" >"$work/log" 2>&1 &&
		cp "$scenarios/modules/tracepoint/nvidia.ko" "$work/container/" &&
		boot "$kernel" "$work/container" "$results/$kernel-container" >"$work/log" 2>&1; then
		echo "ok $name" | tee -a "$verdicts"
	else
		printf 'FAIL %s\n%s\n' "$name" "$(tail -n 15 "$work/log" | sed 's/^/    /')" | tee -a "$verdicts"
	fi
done
passed=$(grep -c '^ok ' "$verdicts" || true)
failed=$(grep -c '^FAIL ' "$verdicts" || true)
skipped=$(grep -c '^skip ' "$verdicts" || true)
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
