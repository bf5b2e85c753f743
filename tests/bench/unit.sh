#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures the agent under the systemd unit's own settings, without any, and with AF_NETLINK forbidden, by the clock that
# counts instructions. Puts the table into docs/PERFORMANCE.md. unit.sh [KERNEL]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
"$top/tests/vm/systemd/prepare.sh" "$job"
cp "$here/unit-guest.sh" "$job/run.sh"
cp "$here/ops.sh" "$top/build/bench/load" "$job/"
in_guest "${1:-6.1}" unit --append 'nokaslr norandmaps nowatchdog' --image package --memory 3072 \
	--packages "$top/tests/vm/package/rootfs.packages"
cat "$results/unit/table.md"
put unit "$results/unit/table.md"
