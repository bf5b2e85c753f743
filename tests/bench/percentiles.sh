#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Compares a session's percentiles with fio's own log of each block, in a guest whose clock counts instructions, so that
# the host's other work is in neither. Puts the table into docs/PERFORMANCE.md: percentiles.sh [KERNEL]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cp "$here/percentiles-guest.sh" "$job/run.sh"
cp "$top/build/xidscope" "$job/"
in_guest "${1:-6.1}" percentiles
/usr/bin/python3 "$here/percentiles.py" "$results/percentiles" | tee "$results/percentiles.md"
put percentiles "$results/percentiles.md"
