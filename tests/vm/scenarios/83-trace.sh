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
load_begin /mnt/trace 32 randread 4k
/job/xidscope trace --duration 4 >report.txt 2>trace.log
load_end
tc qdisc del dev lo root
sysctl -qw kernel.printk_devkmsg=on
/job/xidscope trace --accept-user-kmsg --slower 3000 --record session.rec --json session.json \
	--html session.html >session.txt 2>session.log &
tracer=$!
wait_for 300 grep -q attached session.log
load_begin /mnt/trace 8 randread 4k
wait_for 180 grep -qE '127.0.0.1 .*(rtt|slot) [0-9]' session.txt
echo '<3>NVRM: Xid (PCI:0000:c1:00): 79, pid=1234, name=python, GPU has fallen off the bus.' >/dev/kmsg
nfs_server_stop
wait_for 180 grep -q '127.0.0.1 hangs: ' session.txt
nfs_server_start
sleep 6
load_end
dd if=/dev/zero of=/mnt/trace/save bs=1M count=24 conv=fsync
sleep 5
kill -TERM "$tracer"
wait "$tracer"
/job/xidscope trace --replay session.rec --json replay.json --html replay.html >replay.txt 2>replay.log

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
