#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures what observing costs, in a guest whose clock counts instructions, beside the peers in tests/bench/peers and
# Debian's libbpf-tools. Leaves build/bench/KERNEL.md, and puts the table into docs/PERFORMANCE.md.
#   bench.sh [KERNEL] [OBSERVER...]   default: 6.1 agent tracepoints trace files bpftrace nfsdist; REPEATS=5
#   bench.sh 6.1-task-nobtf file      the agent with the types of sunrpc from a file
set -euo pipefail
. "$(dirname "$0")/lib.sh"
kernel=${1:-6.1}
shift || true
observers=("$@")
((${#observers[@]})) || observers=(agent tracepoints trace files bpftrace nfsdist)
cp "$here/guest.sh" "$job/run.sh"
cp "$here"/peers/*.bt "$top/build/xidscope" "$top/build/bench/load" "$job/"
echo "${observers[*]}" >"$job/settings"
echo "${REPEATS:-5}" >"$job/repeats"
nm "$top/build/xidscope" | /usr/bin/python3 "$here/table.py" --probes >"$job/probes"
# Addresses and the watchdog's interrupts are the same at each boot.
in_guest "$kernel" "$kernel" --image bench --packages "$here/rootfs.packages" --append 'nokaslr norandmaps nowatchdog'
/usr/bin/python3 "$here/table.py" "$results/$kernel" | tee "$results/$kernel.md"
! grep -q "^<!-- bench $kernel: begin" "$top/docs/PERFORMANCE.md" || put "bench $kernel" "$results/$kernel.md"
