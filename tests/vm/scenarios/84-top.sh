# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A session has the owners' calls on each mount. `xidscope top` says that there is no server, and shows a call that hangs;
# trace, check and the event log then name op, process and mount.
/job/xidscope top --batch 1 --interval 0.5 >none.txt 2>none.log
nfs_server_start
agent_start --interval 1 --events events.log --rule nfs_waiter=warn:10
nfs_mount 3 '' /mnt/top
prepare_file /mnt/top
nfs_mount 3 '' /mnt/other 127.0.0.2
nfs_mount 3 nosharecache /mnt/second

trace_begin same --owner-env RUN
cat /proc/self/mountstats >before.mountstats
in_group system.slice/slurmstepd.scope/job_4711 dd if=/mnt/top/load of=/dev/null bs=4k count=900 iflag=direct status=none
in_group system.slice/slurmstepd.scope/job_4711 dd if=/dev/zero of=/mnt/second/4711 bs=64k count=50 oflag=direct status=none
in_group system.slice/slurmstepd.scope/job_4712 dd if=/mnt/second/4711 of=/dev/null bs=64k count=30 iflag=direct status=none
in_group system.slice/plain.service dd if=/mnt/top/load of=/dev/null bs=4k count=300 iflag=direct status=none
dd if=/dev/zero of=/mnt/other/out bs=64k count=40 oflag=direct status=none
ls -lR /mnt/other >/dev/null
cat /proc/self/mountstats >after.mountstats
trace_end

block -o lo -p tcp --dport 2049
dd if=/mnt/top/load of=/dev/null bs=4k count=1 iflag=direct status=none &
reader=$!
echo $reader >reader
/job/xidscope trace --json hung.json >hung.txt 2>hung.log &
viewers=($!)
wait_for 120 grep -q ' hangs: ' hung.txt
/job/xidscope top --batch 2 --owner-env RUN >hung.top 2>hung-top.log
wait_for 120 grep -q 'has been waiting' health.json
/job/xidscope check --health health.json >check.txt || true
wait_for 180 grep -q nfs_stall events.log
/job/xidscope why --events events.log >why.txt
kill -TERM "${viewers[@]}"
wait "${viewers[@]}"
unblock -o lo -p tcp --dport 2049
wait $reader
agent_stop
