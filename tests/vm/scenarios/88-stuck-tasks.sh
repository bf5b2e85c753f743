# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two tasks of two jobs wait for the lock of an NFS file's inode, which a module holds, while others' calls are answered;
# then a task waits for the lock of another, which waits for a server that is dead.
need_drivers
nfs_server_start
# by which the mount is known, from 5.15 on
grep -c ' bpf_task_pt_regs$' /proc/kallsyms >registers || true
agent_start --interval 15 --events events.json
nfs_mount 3 '' /mnt/stuck
nfs_mount 4.2 '' /mnt/other
prepare_file /mnt/stuck
dd if=/dev/zero of=/mnt/stuck/read bs=1M count=1 conv=fsync status=none
driver_load text
# write_as JOB FILE: writes to the file, in a control group as Slurm gives to the job.
write_as() {
	local group=system.slice/slurmstepd.scope/job_$1
	defer wait_for 20 rmdir "/sys/fs/cgroup/$group"
	(join_group "$group" && exec dd if=/dev/zero of="$2" bs=4k count=1 conv=notrunc status=none) &
	echo "$!" >"job_$1.pid"
}
told() {
	[[ $(grep -c '"nfs_stuck"' events.json) == "$1" ]]
}
echo 'hang 125 /mnt/stuck/load' >/proc/xidscope-driver &
holder=$!
sleep 2
cut -d ' ' -f 1 /proc/uptime >begin
write_as 71 /mnt/stuck/load
write_as 72 /mnt/stuck/load
# the server answers others now and then
while sleep 0.3; do dd if=/mnt/stuck/read of=/dev/null bs=4k count=1 iflag=direct status=none; done &
reader=$!
wait_for 200 told 2
cut -d ' ' -f 1 /proc/uptime >found
agent_write stuck
/job/xidscope check --json --health health.json >check.json || true
/job/xidscope why --events events.json --since 1h --json >why.json
kill "$reader"
wait "$reader" "$holder" || true
# the next look is up to 105 s later
over() {
	agent_write over
	! grep -q "^xidscope_nfs_stuck_tasks{.*} [1-9]" over.prom || { sleep 10 && false; }
}
wait_for 150 over

# With files that are open already: opening one would wait for the server without a lock. Truncating takes the lock.
exec 8<>/mnt/stuck/load
nfs_server_stop
defer nfs_server_start
perl -e 'truncate(STDOUT, 12345) or die' >&8 &
truncater=$!
sleep 2
dd if=/dev/zero bs=4k count=1 conv=notrunc status=none >&8 &
writer=$!
wait_for 200 told 3
for i in 1 2 3; do
	agent_write "dead-$i"
	sleep 7
done
nfs_server_start
wait "$truncater" "$writer"
exec 8>&-
agent_stop
