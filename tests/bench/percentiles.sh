#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Compares a session's percentiles with fio's own log of each block, in a guest whose clock counts instructions, so that
# the host's other work is in neither. Puts the table into docs/PERFORMANCE.md: percentiles.sh [KERNEL]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
kernel=${1:-6.1}
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-percentiles.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$here/percentiles-guest.sh" "$job/run.sh"
cp "$top/build/xidscope" "$job/"
out=$top/build/bench/percentiles
rm -rf "$out"
mkdir -p "${out%/*}"
"$top/tests/vm/boot.sh" --kernel "$kernel" --icount --job "$job" --out "$out" --timeout "${TIMEOUT:-1200}"
/usr/bin/python3 "$here/percentiles.py" "$out" | tee "$out/table.md"
"$here/../docs/put_table.sh" "$top/docs/PERFORMANCE.md" percentiles <"$out/table.md"
