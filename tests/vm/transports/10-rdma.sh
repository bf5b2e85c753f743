# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# NFS over RDMA: counts as over TCP; 4 slots show as `slot`, a server that grants few credits as `send`, the 250 ms by
# which some kernels delay the first call that finds no slot as `delay`.
# The card is soft-RoCE on one end of a veth pair, and the mount is of the guest itself.
if ! soft_roce 10.0.8; then
	echo 'this kernel has no soft-RoCE (CONFIG_RDMA_RXE)' >skip
	exit 0
fi
ip address add fd00:8::1/64 dev roce0 nodad

slots=/proc/sys/sunrpc/rdma_slot_table_entries
credits=/proc/sys/sunrpc/svc_rdma/max_requests
cp "$slots" slots.default
agent_start
# rdma_load NAME SLOTS CREDITS MOUNT_OPTIONS SERVER SECONDS RW BLOCK [FIO-OPTION...]: 32 requests at a time.
rdma_load() {
	local name=$1 options=$4 path=/
	[[ $options != vers=3* ]] || path=/export
	nfs_server_start
	set_value "$slots" "$2"
	set_value "$credits" "$3"
	echo 'rdma 20049' >/proc/fs/nfsd/portlist
	mkdir -p /mnt/rdma
	defer unmount /mnt/rdma
	mount -t nfs -o "$options,port=20049" "$5:$path" /mnt/rdma
	prepare_file /mnt/rdma
	compare_point "$name-before"
	load /mnt/rdma "$6" 32 "$7" "$8" "${@:9}"
	cp fio.json "$name.json"
	compare_point "$name-after"
	rdma resource show cm_id >"$name.cm_id"
	umount /mnt/rdma
	nfs_server_stop
}
rdma_load v3 "$(<slots.default)" 64 vers=3,nolock,proto=rdma 10.0.8.1 2 randrw 4k
rdma_load v4.2 "$(<slots.default)" 64 vers=4.2,proto=rdma6 '[fd00:8::1]' 2 randrw 4k
rdma_load 4 4 64 vers=3,nolock,proto=rdma 10.0.8.1 4 randread 64k
rdma_load 128 128 64 vers=3,nolock,proto=rdma 10.0.8.1 2 randread 64k
rdma_load credits 128 16 vers=3,nolock,proto=rdma 10.0.8.1 4 randread 64k
rdma_load bursts 8 64 vers=3,nolock,proto=rdma 10.0.8.1 6 randread 16k \
	--iodepth_batch_submit=32 --iodepth_batch_complete_min=32
agent_stop
