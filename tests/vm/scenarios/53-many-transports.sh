# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# More transports than the tables hold: 64 addresses of 20 servers with 16 transports each have figures of their own; with
# 104 addresses, all calls are still counted, those of the rest under "other", and a call costs the same there.
modprobe nfs
if [[ ! -e /sys/kernel/btf/sunrpc ]]; then
	echo 'only source btf has a table of transports' >skip
	exit 0
fi
nfs_server_start 16
[[ ! -e /proc/fs/nfsd/max_connections ]] || set_value /proc/fs/nfsd/max_connections 4096
dd if=/dev/zero of=/export/load bs=64k count=1 status=none
set_value /proc/sys/kernel/bpf_stats_enabled 1
agent_start --hooks rpc

mount_up_to() {
	local i
	while ((mounts < $1)); do
		i=$((mounts += 1))
		mount_directly "127.0.3.$i" "storage-$((i % 20))" "/mnt/many-$i" noresvport,nconnect=16
		read_from "$i"
	done
}
mounts=0
# read_from MOUNT: calls enough to use each of its transports.
read_from() {
	dd if="/mnt/many-$1/load" of=/dev/null bs=1k count=64 iflag=direct status=none
}
cost() { # cost NAME MOUNT: what the program of a call's end takes
	bpftool -j prog show >"$1-begin.json"
	for _ in 1 2 3 4 5 6 7 8; do read_from "$2"; done
	bpftool -j prog show >"$1-end.json"
}
mount_up_to 64
compare_point before
cost few 1
compare_point middle
mount_up_to 104
compare_point full
cost known 1
cost beyond 104
for i in $(seq "$mounts"); do read_from "$i"; done
compare_point after
for i in $(seq "$mounts"); do umount "/mnt/many-$i"; done
# The kernel ends transports in the background.
wait_for 30 sh -c 'bpftool -j map dump name rpc_bpf.bss | grep -q "\"rpc_xprt_count\": *0,"' || true
bpftool -j map dump name rpc_bpf.bss >variables.json
bpftool -j map dump name xprts >xprts.json
agent_write gone
agent_stop
