#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves on this machine, if its kernel has no sunrpc, that the agent logs that, runs on and writes a valid file, also when
# nobody reads its messages.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[[ ! -e /sys/module/sunrpc ]] || { echo "this machine has sunrpc" && exit 77; }
((EUID == 0)) || { echo "only root may load BPF programs" && exit 77; }
[[ -e /sys/kernel/btf/vmlinux ]] || { echo "this machine's kernel has no BTF" && exit 77; }
"$program" run --output "$dir/x.prom" --interval 0.5 --duration 2 --keep 2>"$dir/log"
cat "$dir/log"
grep -q 'sunrpc is not loaded' "$dir/log"
grep -q '^xidscope_hook_attached{hook="rpc_task_sleep"} 0$' "$dir/x.prom"
grep -q '^xidscope_rpc_source{source="btf"} 0$' "$dir/x.prom"
tail -n 1 "$dir/x.prom" | grep -qx '# EOF'

# Nobody reads standard error: what is lost is counted, and the agent runs on.
mkfifo full
exec 3<>full
timeout 1 head -c 1M /dev/zero >full || true
timeout 20 "$program" run --output "$dir/full.prom" --interval 0.5 --duration 2 --keep 2>full
lost=$(sed -n 's/^xidscope_events_dropped_total{reason="messages"} //p' full.prom)
((lost >= 3)) || { echo "$lost messages lost" && exit 1; }
