#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures what a kernel message costs, with and without the printk hook. printk.sh [KERNEL]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
modules=$("$top/tests/vm/modules.sh" "${1:-6.1}")
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-bench.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$here/printk-guest.sh" "$job/run.sh"
cp -r "$top/tests/vm/agent-lib.sh" "$top/build/xidscope" "$modules/text/nvidia.ko" "$job/"
"$top/tests/vm/boot.sh" --kernel "${1:-6.1}" --icount --job "$job" --out "$top/build/bench/printk" --timeout "${TIMEOUT:-1800}"
cat "$top/build/bench/printk/results"
