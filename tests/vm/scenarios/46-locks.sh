# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tasks that want one file's lock, on v4.1, wait for each other: a session says so. Then, on v3, the port of the server's lock
# manager is filtered: the task that wants a lock hangs, while all other calls are answered.
nfs_server_start
nfs_mount 4.1 '' /mnt/four
nfs_mount 3 '' /mnt/three
touch /mnt/four/lock
# by which the mount is known, from 5.15 on
grep -c ' bpf_task_pt_regs$' /proc/kallsyms >registers || true
trace_begin contended
for _ in {1..3}; do
	for _ in {1..8}; do flock /mnt/four/lock sleep 1 & lockers+=($!); done
	wait "${lockers[@]}"
	lockers=()
done
trace_end

agent_start --interval 5 --events events.json
compare_point before
for _ in {1..5}; do flock /mnt/three/lock true; done # finds the port
compare_point after
for protocol in tcp udp; do
	port=$(rpcinfo -p 127.0.0.1 | awk -v protocol=$protocol '$1 == 100021 && $3 == protocol { print $4; exit }')
	iptables -I OUTPUT -p $protocol --dport "$port" -j DROP
	defer sh -c "iptables -D OUTPUT -p $protocol --dport $port -j DROP 2>/dev/null || true"
done
flock /mnt/three/lock true &
locker=$!
while sleep 0.3; do touch /mnt/three/other; done &
toucher=$!
told() { grep -q '"comm":"flock"' events.json; }
wait_for 200 told
agent_write stuck
/job/xidscope check --json --health health.json >check.json || true
kill "$toucher"
for protocol in tcp udp; do iptables -D OUTPUT 1; done
wait "$locker"
agent_stop
