#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make demo`: a checkpoint over NFS with few RPC slots and a failing GPU; the report, the change that it
# proposes, and the gain beside the predicted one.
set -euo pipefail
# shellcheck source=tests/vm/guest-lib.sh
. /vm/guest-lib.sh
heading() { printf '\n== %s\n\n' "$1"; }
# save SECONDS REQUESTS: a job of Slurm's writes with so many requests at once; prints bytes per second.
job=/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711
mkdir -p $job
save() (
	echo "$BASHPID" >$job/cgroup.procs
	fio --name=shard --directory=/mnt/checkpoint --size=64m --rw=randwrite --bs=32k --direct=1 --ioengine=libaio \
		--iodepth="$2" --time_based --runtime="$1" --eta=never --output-format=terse | cut -d ';' -f 48
)

heading "1. The agent, and a mount with 4 RPC slots of an NFS server that is 40 ms away"
nfs_server_start 16
tc qdisc add dev lo root netem delay 20ms limit 100000
sysctl -qw kernel.printk_devkmsg=on sunrpc.tcp_slot_table_entries=4 sunrpc.tcp_max_slot_table_entries=4
./xidscope run --output out/xidscope.prom --health out/health.json --interval 2 --keep --accept-user-kmsg --events out/events.json --state out/state \
	2>out/agent.log &
agent=$!
wait_for 30 grep -q started out/agent.log
mkdir -p /mnt/checkpoint
echo '127.0.0.1:/export /mnt/checkpoint nfs vers=3,proto=tcp,noauto 0 0' >>/etc/fstab
mount /mnt/checkpoint
cat out/agent.log

heading "2. A session of trace: a job writes with 1 request at a time, with 2, and its checkpoint with 32; a GPU fails"
./xidscope trace --accept-user-kmsg --json out/session.json >out/report.txt 2>out/trace.log &
trace=$!
wait_for 30 test -s out/report.txt
tail -f out/report.txt --pid=$trace 2>/dev/null | sed -u '/^$/,$d' &
save 3 1 >/dev/null
save 3 2 >/dev/null
echo '<3>NVRM: Xid (PCI:0000:3b:00): 79, pid=4712, name=python3, GPU has fallen off the bus.' >/dev/kmsg
before=$(save 8 32)
kill -TERM $trace
wait $trace

heading "3. Its report"
sed -n '/^Summary/,/^$/p' out/report.txt | fold -sw 80
sed -n '/^Owners/,/^$/p; /^Episodes/,/^$/p' out/report.txt

heading "4. The report's command is run, the mount is made again, and the checkpoint is written again"
sed -n '/^Summary/,/^$/s/^    //p' out/report.txt | tee out/commands
bash -e out/commands
umount /mnt/checkpoint
mount /mnt/checkpoint
after=$(save 8 32)
predicted=$(sed -nE 's/.*"gain_expected":([0-9.]*),"gain_at_most":([0-9.]*).*/\1 \2/p' out/session.json)
awk -v before="$before" -v after="$after" -v predicted="${predicted:-0 0}" 'BEGIN {
	split(predicted, of)
	printf "\n%.1f MB/s before, %.1f MB/s after: %.1f times. Predicted: ", before / 1e3, after / 1e3, after / before
	if (of[1] > 0) printf "%.1f times, ", of[1]
	printf "at most %.1f.\n", of[2] }'

heading "5. The GPU: xidscope faults, and xidscope check"
wait_for 10 grep -q 'xid="79"' out/xidscope.prom
./xidscope faults --health out/health.json
./xidscope check --health out/health.json | fold -sw 80 || true
kill -TERM $agent
wait $agent
