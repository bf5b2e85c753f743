#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's part of `make faults` (it becomes the job's run.sh): the same with NFS observed under load, and what would
# disturb the whole machine: a clock that is set, a CPU that goes, a flood of the kernel log, a full table of servers.
set -u
cd /job || exit
. /vm/guest-lib.sh
mkdir -p out
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
nfs_server_start 2 >/dev/null
nfs_mount 4.1 '' /mnt/a
( # some calls of each kind, all the time
	while sleep 0.1; do
		dd if=/dev/zero of=/mnt/a/file bs=4k count=4 conv=fsync status=none
		ls -l /mnt/a
		rm -f /mnt/a/file
	done
) >/dev/null 2>&1 &
status=0
objects() { for what in map prog link; do bpftool "$what" list | grep -c '^[0-9]*:'; done | paste -sd ' '; }
before=$(objects)
while read -r what times; do
	echo "begun: $what" >&2
	./inject disturb "/tmp/$what" "$what" "$times" /job/xidscope || status=1
	after=$(objects)
	[[ $after == "$before" ]] || {
		echo "# $what: maps, programs, links: $before, then $after"
		status=1
	}
done <disturbances > >(tee out/disturbed)
cp /tmp/*.log /tmp/*.prom out/ 2>/dev/null
# More servers than the table has room for: what does not fit is counted, all else goes on.
if [[ -s servers ]]; then
	(
		for ((i = 1; i <= $(<servers); i++)); do nfs_mount 3 nolock "/mnt/s$i" "127.0.1.$i" && ls "/mnt/s$i"; done
	) >/dev/null 2>out/servers.log &
	mounting=$!
	./inject disturb /tmp/servers watched 60 /job/xidscope >out/servers || status=1
	cat out/servers
	cp /tmp/servers.prom out/
	{
		grep -h 'events_dropped' /tmp/servers.prom
		grep -o 'server="[^"]*"' /tmp/servers.prom | sort -u | wc -l | sed 's/$/ servers in the file/'
	} | tee out/dropped
	wait "$mounting"
fi
if [[ -s patterns ]]; then
	PATTERNS=$(<patterns) ONLY=$(<only) WHO=$(<callers) OUT=/tmp/faults ./faults.sh /job/inject /job/xidscope || status=1
	cp /tmp/faults/{calls,results,table} out/
	mkdir out/files
	cp /tmp/faults/*.prom out/files/
fi
exit "$status"
