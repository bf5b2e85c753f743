#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's part of `make faults` (it becomes the job's run.sh): NFS is observed under load meanwhile. The file `cases` has
# the arguments of faults.py, a line for each run.
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
objects() { for what in map prog link; do bpftool "$what" list | grep -c '^[0-9]*:'; done | paste -sd ' '; }
status=0 number=0
before=$(objects)
while read -r -a case; do
	echo "begun: ${case[*]}" >&2
	timeout 3000 python3 faults.py "${case[@]}" >>out/results || status=1
	number=$((number + 1))
	cp /tmp/faults/last.prom "out/$number.prom"
	cp /tmp/faults/log "out/$number.log"
	after=$(objects)
	[[ $after == "$before" ]] || {
		echo "maps, programs, links after ${case[*]}: $after, not $before" >>out/results
		status=1
	}
done <cases
cat out/results
exit "$status"
