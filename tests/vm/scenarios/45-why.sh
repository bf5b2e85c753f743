# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What `why` and `faults` say afterwards, and what all commands say is open: a storm of a fault, a server that stops for 25 s, an agent that is killed, and one
# that is stopped.
set_value /proc/sys/kernel/printk_devkmsg on
log() { printf '%s\n' "$1" >/dev/kmsg; }
why() { /job/xidscope why --events events.json --since 1h --health health.json --json "$@"; }
nfs_server_start
agent_start --interval 1 --accept-user-kmsg --events events.json --state state
nfs_mount 3 '' /mnt/why
prepare_file /mnt/why
for _ in $(seq 500); do
	echo '<3>NVRM: Xid (PCI:0000:d1:00): 63, Row Remapper: New row marked for remapping.'
done >/dev/kmsg
date +%s.%N >storm
load /mnt/why 20 4 randread 4k &
loader=$!
wait_for 120 reads 20
nfs_server_stop
date +%s.%N >stopped
sleep 25
nfs_server_start
wait "$loader"
date +%s.%N >ended
wait_for 30 grep -q '"nfs_stall".*"state":"end"' events.json
# shellcheck disable=SC2154 # agent_start sets it
kill -KILL "$agent"
wait "$agent" || true
date +%s.%N >killed
sleep 5
log '<3>NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus.'
agent_start --interval 1 --accept-user-kmsg --events events.json --state state
date +%s.%N >again
wait_for 30 grep -q '"xid":79' events.json
sleep 3
agent_write open
# tells NAME: what each command says of the faults.
tells() {
	/job/xidscope check --json --health health.json >"$1.check" || true
	/job/xidscope faults --json --health health.json >"$1.faults"
	why >"$1.why"
	/job/xidscope trace --duration 1 --hooks gpu --accept-user-kmsg --ack acks --json "$1.trace" >/dev/null
}
tells open
/job/xidscope ack --health health.json --ack acks c1:00.0 79 >acked
sleep 1.5
tells acknowledged
/job/xidscope faults --health health.json >faults.txt
agent_stop
date +%s.%N >over
printf '{"time":"torn' >>events.json
why >why.json
why --job 7 >job.json
/job/xidscope why --events events.json --since 1h >why.txt
/job/xidscope faults --health health.json 2>stopped.txt && echo 0 >>stopped.txt || echo $? >>stopped.txt
cat why.txt faults.txt stopped.txt
