#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of tests/bench/percentiles.sh (it becomes the job's run.sh): fio reads and writes blocks of many sizes, one
# at a time, and logs each of them; a session watches. Leaves out/NAME.json and fio's log out/NAME_lat.1.log.
set -euo pipefail
. /vm/guest-lib.sh
cd /job
mkdir -p out
nfs_server_start 1
for version in 3 4.2; do
	nfs_mount "$version" '' "/mnt/$version"
	dd if=/dev/zero of="/mnt/$version/file" bs=1M count=16 conv=fsync status=none
	for op in read write; do
		name=v$version-$op
		./xidscope trace --interval 1 --json "out/$name.json" >"out/$name.txt" 2>"out/$name.err" &
		session=$!
		wait_for 100 grep -q 'attached to sunrpc' "out/$name.err"
		# A call for each block, the largest of which is below rsize and wsize.
		fio --name="$name" --filename="/mnt/$version/file" --rw="rand$op" --bsrange=4k-256k --size=16m --direct=1 \
			--number_ios=2000 --io_size=1g --ioengine=psync --randseed=7 --norandommap --write_lat_log="out/$name" \
			--log_avg_msec=0 >"out/$name.fio"
		kill -INT "$session"
		wait "$session"
	done
done
