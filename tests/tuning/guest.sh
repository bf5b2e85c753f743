#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make tuning`: buffered reads of one file in sequence, buffered writes, syncs, opens of many files, writers
# of one file, and two clients of one file (NFSv4), with a server whose answers come late. A session for each value of a
# setting; the next value is the one that is proposed.
# The file "version" has 3 or 4.2.
set -euo pipefail
. /vm/guest-lib.sh
# shellcheck source=tests/vm/agent-lib.sh
. /job/agent-lib.sh
version=$(<version)
cd out

# session NAME COMMAND...: leaves NAME.trace.json.
session() {
	trace_begin "$1.trace" --record "$1.rec"
	"${@:2}"
	trace_end
	echo "$1: done in $SECONDS s"
}
late() { tc -n far qdisc replace dev eth0 root netem delay "$1ms" limit 100000; }
mounted() { NETNS=far nfs_mount "$version" "$1" /mnt/tuning "$server"; }
stream() {
	fio --name=load --filename=/mnt/tuning/load.0.0 --rw="$1" --size="$2" --bs=64k --fadvise_hint=0 --fallocate=none \
		--time_based --runtime=3 --eta=never --output=fio.txt "${@:3}"
}
# Opens and reads files as an import of many modules does, and writes how many.
open_files() {
	local count=0 end=$((${EPOCHREALTIME/[.,]/} + 3000000)) file
	while ((${EPOCHREALTIME/[.,]/} < end)); do
		for file in /mnt/tuning/many/*; do
			read -r <"$file"
			count=$((count + 1))
		done
	done
	echo $count >"$1.files"
}
# write_records NAME FLAGS FILE: 32 processes write records of 1 KiB to FILE, in which % is their number, for 6 s, and need the rest
# of the page; 3 s of it are the session NAME. Writes how many there were.
write_records() {
	# shellcheck disable=SC2016 # it is Perl
	perl -MFcntl -MTime::HiRes=time -e 'my ($flags, $file) = @ARGV; my $end = time + 6; pipe(R, W);
		for my $i (1 .. 32) {
			next if fork;
			my $count = 0;
			srand($i);
			sysopen(F, $file =~ s/%/$i/r, O_RDWR | oct($flags)) or die;
			while (time < $end) { sysseek(F, 1024 * int(rand(24576)), 0); syswrite(F, "x" x 1024) or die; $count++ }
			print W "$count\n"; close W; exit;
		}
		close W; my $sum = 0; $sum += $_ while <R>; 1 while wait > 0; print "$sum\n"' "${@:2}" >"$1.files" &
	sleep 1
	session "$1" sleep 3
	wait
}

nfs_server_start 16 >/dev/null
modprobe nfs
server=$(netns_client far 10.0.7)
for netns in '' far; do # what is in flight is the client's choice, not TCP's
	in_netns "$netns" sysctl -q -w "net.ipv4.tcp_rmem=4096 1048576 67108864" "net.ipv4.tcp_wmem=4096 1048576 67108864"
done
dd if=/dev/zero of=/export/load.0.0 bs=1M count=192 status=none
mkdir /export/many
for i in {1..16}; do echo "$i" >"/export/many/$i"; done

for ms in 5 54; do
	late $ms
	for kilobytes in 128 512 1024 4096 16384; do
		mounted ''
		echo $kilobytes >"/sys/class/bdi/$(mountpoint -d /mnt/tuning)/read_ahead_kb"
		session "read-$ms-$kilobytes" stream read 192m
		umount /mnt/tuning
	done
done
late 20
mounted ''
for megabytes in 4 16 64 256; do
	echo $((megabytes << 20)) >/proc/sys/vm/dirty_bytes
	session "write-20-$megabytes" stream write 192m
done
echo 20 >/proc/sys/vm/dirty_ratio
session sync-20-1 stream write 16m --fsync=1
umount /mnt/tuning
late 5
for options in noac '' nocto,actimeo=600 lookupcache=none; do
	mounted "$options"
	session "open-5-$options" open_files "open-5-$options"
	umount /mnt/tuning
done

for i in {1..32}; do dd if=/dev/zero of="/export/records.$i" bs=1M count=24 status=none; done
mounted ''
write_records 'lock-5-one file' 0 /mnt/tuning/records.1
umount /mnt/tuning
mounted ''
write_records lock-5-O_DIRECT 040000 /mnt/tuning/records.1
write_records 'lock-5-32 files' 0 /mnt/tuning/records.%
umount /mnt/tuning
[[ $version == 4* ]] || exit 0

# Another client needs another name. Both write and read a file by turns, each file once: knfsd grants no delegation of a file for
# half a minute after a conflict.
near=$(netns_client near 10.0.8)
tc -n near qdisc replace dev eth0 root netem delay 5ms limit 100000
# shellcheck disable=SC2016 # the inner shell expands it
unshare --uts bash -c '. /vm/guest-lib.sh; hostname near; NETNS=near nfs_mount 4.2 "" /mnt/near "$1"' - "$near"
mounted ''
take_turns() {
	local count=0 end=$((${EPOCHREALTIME/[.,]/} + 4000000)) file
	for file in /mnt/near/turns/"$1"-*; do
		((${EPOCHREALTIME/[.,]/} < end)) || break
		read -r <"$file"
		echo $((++count)) >"/mnt/tuning/turns/${file##*/}"
	done
	echo $count >"turns-5-$1.files"
}
mkdir -m 777 /export/turns
for i in {1..400}; do for name in granted none; do echo "$i" >"/export/turns/$name-$i"; done; done
session turns-5-granted take_turns granted
echo 0 >/proc/sys/fs/leases-enable
session turns-5-none take_turns none
