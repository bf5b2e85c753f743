#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make paradox`: synchronous writes to an export whose device answers after a set time, with 16 to 512
# requests at once. A session for each number, which begins with 16, so that it sees the number in flight vary; where calls
# wait for slots, the same load with more slots and with more connections. The file "version" has 3 or 4.2,
# over TCP, or rdma: NFSv3 over soft-RoCE.
set -euo pipefail
. /vm/guest-lib.sh
# shellcheck source=tests/vm/agent-lib.sh
. /job/agent-lib.sh
version=$(<version)
mapfile -t holds <holds # ms
mapfile -t wanted <wanted
slots=128 size=16384 files=512
cd out

# device MS: makes /export, a file system whose data reach the device MS late; its metadata do not. No journal and no flushes,
# for which all would wait together, and a file for each request: who syncs an inode waits for all writes to its data.
device() {
	local first i
	[[ -e /dev/ram0 ]] || modprobe brd rd_nr=1 rd_size=131072
	mke2fs -q -F -t ext4 -b 4096 -N 1024 -O ^has_journal,^resize_inode /dev/ram0
	first=$(dumpe2fs /dev/ram0 2>/dev/null | sed -n 's/.*Inode table at [0-9]*-\([0-9]*\).*/\1/p')
	first=$(((first + 1) * 8))
	printf '%s\n' "0 $first linear /dev/ram0 0" \
		"$first $((262144 - first)) delay /dev/ram0 $first 0 /dev/ram0 $first $1" | dmsetup create --noudevrules --noudevsync slow
	dmsetup mknodes slow
	mkdir -p /export
	mount -t ext4 -o nobarrier,noatime /dev/mapper/slow /export
	for ((i = 0; i < files; i++)); do printf '%65536s' '' >"/export/load.0.$i"; done
	sync
}
device_remove() {
	nfs_server_stop
	umount /export
	dmsetup remove --noudevrules --noudevsync slow
}

# limits SLOTS: of RPC or of the session, whichever this version has.
limits() {
	case $version in
	3) slot_limit "$1" ;;
	rdma) put_value /proc/sys/sunrpc/rdma_slot_table_entries "$1" ;;
	*) session_limit "$1" ;;
	esac
}
# mounted NCONNECT
mounted() {
	if [[ $version == rdma ]]; then
		nfs_mount 3 "nolock,proto=rdma,port=20049,nconnect=$1" /mnt/paradox 10.0.8.1
	else
		nfs_mount "$version" "nconnect=$1" /mnt/paradox
	fi
}
# writes WANTED SECONDS NAME: so many at once.
writes() {
	fio --name=load --directory=/mnt/paradox --nrfiles=$files --filesize=64k --rw=write --bs="$size" --direct=1 --ioengine=libaio \
		--iodepth="$1" --time_based --ramp_time=500ms --runtime="$2" --eta=never --output-format=json --output="$3"
}

# cell HOLD SLOTS NCONNECT WANTED [trace]: what the writes reach, and with `trace` what a session says of them.
cell() {
	local name="$1-$2-$3-$4"
	limits "$2"
	mounted "$3"
	if [[ ${5:-} ]]; then
		trace_begin "$name.trace" --record "$name.rec"
		(($4 == 16)) || writes 16 "$seconds" low.json
	fi
	writes "$4" "$((2 * seconds))" "$name.fio.json"
	[[ ! ${5:-} ]] || trace_end
	umount /mnt/paradox
	echo "$name: $(grep '"iops" :' "$name.fio.json" | sed -n 2p)" # after that of reads
}

modprobe -a nfsd nfs
mount -t nfsd nfsd /proc/fs/nfsd
echo "$size" >/proc/fs/nfsd/max_block_size # 512 threads have a buffer of it each
if [[ $version == rdma ]]; then
	soft_roce 10.0.8
	echo 512 >/proc/sys/sunrpc/svc_rdma/max_requests # or the credits that the server grants, 64, are the limit
fi
for hold in "${holds[@]}"; do
	device $((hold - 4)) # which it rounds up to ticks of 4 ms
	seconds=$((hold > 100 ? 3 : 2))
	nfs_server_start 512 >/dev/null
	[[ $version != rdma ]] || echo 'rdma 20049' >/proc/fs/nfsd/portlist
	for n in "${wanted[@]}"; do
		cell "$hold" $slots 1 "$n" trace
		((n > slots)) || continue
		cell "$hold" "$n" 1 "$n"
		cell "$hold" $slots $((n / slots)) "$n"
	done
	device_remove
done
