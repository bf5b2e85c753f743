#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures what observing costs, in a guest whose clock counts instructions, beside the peers in tests/bench/peers and
# Debian's libbpf-tools. Leaves build/bench/KERNEL.md, and puts the table into docs/PERFORMANCE.md.
#   bench.sh [KERNEL] [OBSERVER...]   default: 6.1 agent tracepoints trace bpftrace nfsdist; REPEATS=5
#   bench.sh 6.1-task-nobtf file      the agent with the types of sunrpc from a file
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
kernel=${1:-6.1}
shift || true
observers=("$@")
((${#observers[@]})) || observers=(agent tracepoints trace bpftrace nfsdist)
results=$top/build/bench
mkdir -p "$results"

job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-bench.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$here/guest.sh" "$job/run.sh"
cp "$here"/peers/*.bt "$top/build/xidscope" "$top/build/bench/load" "$job/"
echo "${observers[*]}" >"$job/settings"
echo "${REPEATS:-5}" >"$job/repeats"
rm -rf "${results:?}/$kernel"
# Addresses and the watchdog's interrupts are the same at each boot.
"$top/tests/vm/boot.sh" --kernel "$kernel" --image bench --packages "$here/rootfs.packages" --icount \
	--job "$job" --out "$results/$kernel" --timeout "${TIMEOUT:-1800}" --append 'nokaslr norandmaps nowatchdog'
/usr/bin/python3 "$here/table.py" "$results/$kernel" | tee "$results/$kernel.md"
! grep -q "^<!-- bench $kernel: begin" "$top/docs/PERFORMANCE.md" ||
	"$here/../docs/put_table.sh" "$top/docs/PERFORMANCE.md" "bench $kernel" <"$results/$kernel.md"
