# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `xidscope trace` prints a line per second and names the limit; with a fault and a server that stops in its session, its
# lines, JSON, page and recording have both, and a replay of the recording gives the same again. It names the lock of a file
# that 32 processes write: a page is read before a part of it is changed, with that lock.
nfs_server_start
slot_limit 4
nfs_mount 3 '' /mnt/trace
prepare_file /mnt/trace
# The way to the server takes so much time that 100 calls end in a second. It has the same CPUs: if these were the limit, as
# with ten times the calls on a busy machine, more slots would not help.
tc qdisc add dev lo root netem delay 20ms
load /mnt/trace 900 32 randread 4k &
loader=$!
sleep 1
/job/xidscope trace --duration 4 >report.txt 2>trace.log
load_end "$loader"
tc qdisc del dev lo root
sysctl -qw kernel.printk_devkmsg=on
/job/xidscope trace --accept-user-kmsg --slower 3000 --record session.rec --json session.json \
	--html session.html >session.txt 2>session.log &
tracer=$!
wait_for 300 grep -q attached session.log
load /mnt/trace 900 8 randread 4k &
loader=$!
wait_for 180 grep -qE '127.0.0.1 .*(rtt|slot) [0-9]' session.txt
echo '<3>NVRM: Xid (PCI:0000:c1:00): 79, pid=1234, name=python, GPU has fallen off the bus.' >/dev/kmsg
nfs_server_stop
wait_for 180 grep -q 'hangs: the oldest' session.txt
nfs_server_start
sleep 6
load_end "$loader"
dd if=/dev/zero of=/mnt/trace/save bs=1M count=64 conv=fsync
sleep 5
kill -TERM "$tracer"
wait "$tracer"
/job/xidscope trace --replay session.rec --json replay.json --html replay.html >replay.txt 2>replay.log
head -c $(($(stat -c %s session.rec) - 100)) session.rec >cut.rec
/job/xidscope trace --replay cut.rec --json cut.json >cut.txt 2>cut.log || echo $? >cut.code

umount /mnt/trace
nfs_mount 3 '' /mnt/trace
set_value /proc/sys/vm/dirty_writeback_centisecs 0 # nothing else is in flight
tc qdisc add dev lo root netem delay 5ms
defer tc qdisc del dev lo root
# shellcheck disable=SC2016 # it is Perl
perl -MFcntl -e 'for my $i (1 .. 32) {
	next if fork;
	alarm 300;
	srand($i);
	sysopen(F, "/mnt/trace/load", O_RDWR) or die;
	while (1) { sysseek(F, 1024 * int(rand(16384)), 0); syswrite(F, "x" x 1024) }
}'
sleep 1
/job/xidscope trace --duration 5 >lock.txt 2>lock.log
pkill -x perl

# Files of known sizes, each read once, a directory of many, and one that is written: by known processes of a job.
mkdir -p /export/tree/{few,many/deep} /mnt/files
for i in {1..40}; do
	head -c $((i * 10000)) /dev/zero >"/export/tree/few/known$i"
done
for i in {1..300}; do
	echo "$i" >"/export/tree/many/small$i"
done
wait_for 60 umount /mnt/trace
groups=/sys/fs/cgroup
mkdir -p $groups/system.slice/{reader,writer}.service
echo +memory >$groups/cgroup.subtree_control
echo +memory >$groups/system.slice/cgroup.subtree_control
in_group() (
	echo "$BASHPID" >"$groups/system.slice/$1.service/cgroup.procs"
	exec "${@:2}"
)
for version in 3 4.2; do
	nfs_mount "$version" '' /mnt/files
	trace_begin "files-$version" --files 50 --slower 0.001 --record "files-$version.rec"
	sleep 2
	# shellcheck disable=SC2016 # the shell in the group expands it
	in_group reader bash -c '
		for i in {1..40}; do cat "/mnt/files/tree/few/known$i"; done
		find /mnt/files/tree/many -maxdepth 1 -type f | xargs -P 8 -n 50 cat' >/dev/null
	in_group writer dd if=/dev/zero of=/mnt/files/tree/many/deep/saved$'\n' bs=64k count=16 conv=fsync
	sleep 1
	trace_end
	rm /export/tree/many/deep/*
	umount /mnt/files
	/job/xidscope trace --replay "files-$version.rec" >"files-$version.replay"
done
/job/xidscope trace --source tracepoints --files --duration 0.1 >none.txt 2>none.log
