#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make tuning`: buffered reads of one file in sequence, buffered writes, syncs and opens of many files, with
# a server whose answers come late. A session for each value of a setting; the next value is the one that is proposed.
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
