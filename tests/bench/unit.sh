#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures the agent under the systemd unit's own settings, without any, and with AF_NETLINK forbidden, by the clock that
# counts instructions. Puts the table into docs/PERFORMANCE.md. unit.sh [KERNEL]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
results=$top/build/bench/unit
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-bench.XXXXXX")
trap 'rm -rf "$job"' EXIT
"$top/tests/vm/systemd/prepare.sh" "$job"
cp "$here/unit-guest.sh" "$job/run.sh"
cp "$here/ops.sh" "$top/build/bench/load" "$job/"
rm -rf "$results"
"$top/tests/vm/boot.sh" --kernel "${1:-6.1}" --icount --job "$job" --out "$results" --timeout "${TIMEOUT:-1800}" \
	--append 'nokaslr norandmaps nowatchdog' --image systemd --packages "$top/tests/vm/systemd/rootfs.packages"
cat "$results/table.md"
"$here/../docs/put_table.sh" "$top/docs/PERFORMANCE.md" unit <"$results/table.md"
