# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The port of a v3 server's lock manager is filtered: the task that wants a lock hangs, while all other calls are answered.
# Meanwhile tasks that want one file's lock, on v4.1 and another address, wait for each other: a session says so.
nfs_server_start
set_value /proc/sys/fs/leases-enable 0 # with a delegation, from 6.12 on, the client gives locks without a call
nfs_mount 4.1 '' /mnt/four
nfs_mount 3 '' /mnt/three 127.0.0.2
touch /mnt/four/lock
# by which the mount is known, from 5.15 on
grep -c ' bpf_task_pt_regs$' /proc/kallsyms >registers || true
agent_start --interval 5 --events events.json
compare_point before
for _ in {1..5}; do flock /mnt/three/lock true; done # finds the port
compare_point after
for protocol in tcp udp; do
	port=$(rpcinfo -p 127.0.0.1 | awk -v protocol=$protocol '$1 == 100021 && $3 == protocol { print $4; exit }')
	block -p $protocol --dport "$port"
done
flock /mnt/three/lock true &
locker=$!
while sleep 1; do touch /mnt/three/other; done &
toucher=$!

trace_begin contended
end=$((SECONDS + 15))
for _ in {1..8}; do
	while ((SECONDS < end)); do timeout $((end - SECONDS)) flock /mnt/four/lock sleep 4 || true; done &
	lockers+=($!)
done
wait "${lockers[@]}"
trace_end

wait_for 200 says events.json '"comm":"flock"'
agent_write stuck
/job/xidscope check --json --health health.json >check.json || true
kill "$toucher"
for protocol in tcp udp; do iptables -D OUTPUT 1; done
wait "$locker"
agent_stop
