#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make demo`: the agent, a checkpoint over NFS with few RPC slots, a failing GPU, the report.
set -euo pipefail
# shellcheck source=tests/vm/guest-lib.sh
. /vm/guest-lib.sh

echo "== an NFS server, and the agent"
nfs_server_start 8
sysctl -qw kernel.printk_devkmsg=on
./xidscope run --output out/xidscope.prom --interval 2 --keep --accept-user-kmsg --events out/events.json 2>out/agent.log &
agent=$!
wait_for 30 grep -q started out/agent.log
cat out/agent.log

echo "== a mount with 4 RPC slots, and a checkpoint being written and read back by 32 requests at a time"
sysctl -qw sunrpc.tcp_slot_table_entries=4 sunrpc.tcp_max_slot_table_entries=4
nfs_mount 3 '' /mnt/checkpoint
./xidscope trace --accept-user-kmsg >out/report.txt 2>out/trace.log &
trace=$!
wait_for 30 test -s out/report.txt
tail -f out/report.txt --pid=$trace 2>/dev/null | sed -u '/^$/,$d' &
checkpoint() {
	fio --name="$1" --filename=/mnt/checkpoint/shard --size=64m --rw="$1" --bs=256k --direct=1 --ioengine=libaio \
		--iodepth=32 --time_based --runtime=3 --eta=never --output=/dev/null
}
checkpoint write
for _ in 1 2; do
	echo '<3>NVRM: Xid (PCI:0000:c1:00): 48, pid=4711, name=python3, DBE (double bit error) ECC error' >/dev/kmsg
done
echo '<3>NVRM: Xid (PCI:0000:3b:00): 79, pid=4712, name=python3, GPU has fallen off the bus.' >/dev/kmsg
checkpoint read
kill -TERM $trace
wait $trace
kill -TERM $agent
wait $agent

echo
echo "== what the agent wrote (buckets left out)"
grep -v -e _bucket -e '^#' out/xidscope.prom | grep -v -e 'phase="\(session\|delay\|resend\)"' -e 'op="\(NULL\|PATHCONF\|FSINFO\|FSSTAT\|LOOKUP\|CREATE\|SETATTR\|ACCESS\|COMMIT\|GETATTR\)"'
echo
echo "== what it logged, a line of JSON for each fault, repeats folded"
cat out/events.json
echo
echo "== the report of the trace session"
sed -n '/^Summary/,$p' out/report.txt
