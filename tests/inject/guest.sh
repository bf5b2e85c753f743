#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's part of `make faults` (it becomes the job's run.sh): the same with NFS observed under load, and what would
# disturb the whole machine: a clock that is set, a CPU that goes.
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
if [[ -s patterns ]]; then
	PATTERNS=$(<patterns) ONLY=$(<only) WHO=$(<callers) OUT=/tmp/faults ./faults.sh /job/inject /job/xidscope || status=1
	cp /tmp/faults/{calls,results,table} out/
	mkdir out/files
	cp /tmp/faults/*.prom out/files/
fi
exit "$status"
