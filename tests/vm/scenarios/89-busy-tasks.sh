# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Many threads read, write and sync on a server whose disk is slow: none of them hangs without a call.
# PARAMETERS="seconds=3600 threads=2000": for so long, and so many.
nfs_server_start
disk=$(slow_disk 20)
nfs_server_stop
wait_for 10 umount /export
mount "$disk" /export
defer umount /export
nfs_server_start
agent_start --interval 15 --events events.json
nfs_mount 4.2 '' /mnt/busy
mkdir /mnt/busy/own
ulimit -n 8192 # of fio's threads
# Half of them read directly, the others write a file of their own and sync, but for 20, which write the same file: more would wait
# for its lock for minutes.
fio --thread --group_reporting --time_based --runtime="${seconds:=150}" --bs=4k --fallocate=none --eta=never --output=fio.txt \
	--name=read --numjobs=$((${threads:=200} / 2)) --rw=randread --direct=1 --filename=/mnt/busy/read --size=16m \
	--name=write --numjobs=$((threads / 2 - 20)) --rw=write --fsync=4 --directory=/mnt/busy/own --size=16k \
	--name=share --numjobs=20 --rw=randwrite --fsync=64 --filename=/mnt/busy/shared --size=16m &
load=$!
while kill -0 $load 2>/dev/null; do
	sleep 15
	{ sed -n 's/^xidscope_nfs_//p' x.prom | grep '^\(stuck_tasks{\|oldest_stuck\)'; cat /proc/loadavg; } >>stuck.txt
done
wait $load
agent_stop
umount /mnt/busy
nfs_server_stop
