#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that a call costs the same with 1, 16 and 128 transports, 1 to 32 servers and 1,000 tasks waiting, and that a
# write of the file takes time in proportion to its samples. growth.sh [KERNEL]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
results=$top/build/bench
mkdir -p "$results"
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-bench.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$here/growth-guest.sh" "$job/run.sh"
cp "$here/ops.sh" "$job/"
cp "$top/tests/vm/agent-lib.sh" "$top/build/xidscope" "$top/build/bench/load" "$job/"
rm -rf "$results/growth"
"$top/tests/vm/boot.sh" --kernel "${1:-6.1}" --icount --job "$job" --out "$results/growth" \
	--timeout "${TIMEOUT:-1800}" --append 'nokaslr norandmaps nowatchdog' --image bench --packages "$here/rootfs.packages"
/usr/bin/python3 "$here/growth.py" "$results/growth" | tee "$results/growth.md" || status=1
"$here/../docs/put_table.sh" "$top/docs/PERFORMANCE.md" growth <"$results/growth.md"
exit "${status:-0}"
