#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures what a kernel message costs, with and without the printk hook. printk.sh [KERNEL]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
modules=$("$top/tests/vm/modules.sh" "${1:-6.1}")
cp "$here/printk-guest.sh" "$job/run.sh"
cp -r "$top/tests/vm/agent-lib.sh" "$top/build/xidscope" "$modules/text/nvidia.ko" "$job/"
in_guest "${1:-6.1}" printk
cat "$results/printk/results"
