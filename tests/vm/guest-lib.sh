# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a job may source in the guest (. /vm/guest-lib.sh): an NFS server, mounts, clients in network namespaces.

# defer COMMAND...: has clean_up run it, as run-scenarios does when the scenario has ended, whether it failed or not; what was
# deferred last runs first. For commands and functions, with absolute paths. Jobs without a file $deferred ignore it.
defer() {
	[[ ! ${deferred:-} ]] || echo "${*@Q}" >>"$deferred"
}
clean_up() {
	local command failed=0
	[[ -e $deferred ]] || return 0
	while read -r command; do
		eval "$command" </dev/null || {
			echo "cleaning up: failed: $command"
			failed=1
		}
	done < <(tac "$deferred")
	return $failed
}

# set_value FILE VALUE: writes it to a file of /proc or /sys, and defers writing what was there.
set_value() {
	defer put_value "$1" "$(<"$1")"
	put_value "$@"
}
put_value() { echo "$2" >"$1"; }

# unmount DIR: if it is mounted; also when the server does not answer.
unmount() {
	! grep -qF " ${1// /\\040} " /proc/mounts || umount -f -l "$1"
}

# nfs_server_start [THREADS=8]: exports a tmpfs at /export (NFSv3 path /export, NFSv4 path /) to everyone over TCP,
# IPv4 and IPv6, NFSv3 to v4.2. No grace period, unless NFSv4 clients have state to reclaim after nfs_server_stop:
# then it ends when the v4.1+ clients have done so, or after 10 s, the least that knfsd takes.
nfs_server_start() {
	defer nfs_server_forget
	modprobe -a nfsd lockd
	mkdir -p /export /run/rpc_pipefs
	mountpoint -q /export || mount -t tmpfs -o mode=1777 tmpfs /export
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	mountpoint -q /run/rpc_pipefs || mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
	pidof -q rpcbind || rpcbind
	pidof -q rpc.statd || rpc.statd --no-notify
	pidof -q nfsdcld || nfsdcld
	pidof -q rpc.mountd || rpc.mountd
	exportfs -i -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 '*:/export'
	rpc.nfsd --grace-time 10 --lease-time 10 "${1:-8}"
	echo Y >/proc/fs/lockd/nlm_end_grace
}

# soft_roce SUBNET: makes a card for RDMA on one end of a veth pair, at SUBNET.1; SUBNET is three octets. Fails where the
# kernel has none (CONFIG_RDMA_RXE). A running server listens there after `echo 'rdma 20049' >/proc/fs/nfsd/portlist`.
soft_roce() {
	modprobe -qa rdma_rxe rpcrdma || return
	ip link add roce0 mtu 4200 type veth peer name roce1 mtu 4200
	defer ip link delete roce0
	ip address add "$1.1/24" dev roce0
	ip link set roce0 up
	ip link set roce1 up
	rdma link add rxe0 type rxe netdev roce0
}

# nfs_server_stop: the exports' files stay, so that clients can go on after another nfs_server_start.
nfs_server_stop() {
	rpc.nfsd 0
	exportfs -au
}

# slow_disk MS: makes a disk in memory, with a file system, that takes so long for each request, and prints its device. Fails
# where the kernel has none.
slow_disk() {
	local folder=/sys/kernel/config/nullb/slow value disk
	if [[ ! -d $folder ]]; then
		modprobe null_blk nr_devices=0 || return 1
		mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
		mkdir "$folder"
		for value in memory_backed=1 size=200 irqmode=2 completion_nsec=$(($1 * 1000000)) blocksize=512 power=1; do
			echo "${value#*=}" >"$folder/${value%=*}"
		done
	fi
	disk=$(ls -d /dev/slow /dev/nullb0 2>/dev/null)
	echo 0 >"/sys/block/${disk#/dev/}/queue/read_ahead_kb"
	busybox mke2fs "$disk" >/dev/null
	echo "$disk"
}

# nfs_server_forget: ends the server and drops its records of clients: the delegation of a client that is gone would
# delay others.
nfs_server_forget() {
	[[ ! -e /proc/fs/nfsd/threads ]] || rpc.nfsd 0
	pkill -x nfsdcld || true
	rm -rf /var/lib/nfs/nfsdcld/*
}

# nfs_mount VERSION OPTIONS DIR [SERVER=127.0.0.1]: e.g. nfs_mount 4.2 nconnect=4 /mnt/a '[::1]'.
# With NETNS=NAME set, the client lives in that network namespace.
nfs_mount() {
	local path=/
	[[ $1 != 3* ]] || path=/export
	mkdir -p "$3"
	defer unmount "$3"
	in_netns "${NETNS:-}" mount -t nfs -o "vers=$1${2:+,$2}" "${4:-127.0.0.1}:$path" "$3"
}

# mount_directly ADDRESS NAME DIR [OPTION,...]: NFSv3, by the name that NFS shall have for the server, which no resolver needs to
# know. Without mount.nfs, which takes longer.
mount_directly() {
	mkdir -p "$3"
	defer unmount "$3"
	mount -i -t nfs -o "addr=$1,mountaddr=$1,vers=3,nolock,proto=tcp,mountproto=tcp${4:+,$4}" "$2:/export" "$3"
}

# own_addresses ADDRESS...: this machine has them too, until the scenario has ended.
own_addresses() {
	local address
	for address; do
		ip address add "$address/32" dev lo
		defer ip address delete "$address/32" dev lo
	done
}

# move FROM TO: gives connections to another address, as rpcctl does.
move() {
	local folder
	for folder in /sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*-tcp; do
		[[ -e $folder && $(<"$folder/dstaddr") == "$1" ]] || continue
		! grep -qx dst_port=2049 "$folder/xprt_info" || echo "$2" >"$folder/dstaddr"
	done
}

# netns_client NAME SUBNET: makes a network namespace joined to the server's by a veth pair, with addresses and RPC
# transports of its own, and prints its server's address. SUBNET is three octets: `netns_client a 10.0.1` gives
# server 10.0.1.1 on device veth-a and client 10.0.1.2 on device eth0 inside. `tc qdisc` works on both; qdiscs go with the
# namespace.
netns_client() {
	ip netns add "$1"
	defer ip netns delete "$1"
	ip link add "veth-$1" type veth peer name eth0 netns "$1"
	ip address add "$2.1/24" dev "veth-$1"
	ip link set "veth-$1" up
	ip -n "$1" address add "$2.2/24" dev eth0
	ip -n "$1" link set eth0 up
	ip -n "$1" link set lo up
	echo "$2.1"
}

# in_netns NAME COMMAND...: runs it there; '' is the guest's own. Not `ip netns exec`, whose mounts end with it.
in_netns() {
	local name=$1
	shift
	if [[ $name ]]; then nsenter --net="/run/netns/$name" "$@"; else "$@"; fi
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds, after pauses of $pause (0.1 s, later 0.5 s); fails when $patience (6) times
# that is over: on a busy machine all takes longer. To start sleep would take an emulated CPU as long again.
exec {never}<> <(:)
wait_for() {
	local end=$((SECONDS + $1 * ${patience:-6})) pauses=0
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		read -rt "${pause:-.$((pauses++ < 20 ? 1 : 5))}" -u $never || true
	done
}

# inject COMMAND...: runs a command of QEMU's monitor that injects a hardware error, and prints the answer. Of
# PCIe: "pcie_aer_inject_error ID ERROR", where ID is "lower" for a device and "upper" for the port that it is behind. Of
# a CPU: "mce CPU BANK STATUS 0 ADDRESS MISC". Needs a guest that was booted with --errors.
inject() {
	local port answer
	modprobe -q virtio_console || true # part of the kernel from 6.12 on
	wait_for 30 sh -c 'grep -qsx monitor /sys/class/virtio-ports/*/name' # made after modprobe has returned
	port=$(grep -lx monitor /sys/class/virtio-ports/*/name)
	exec {port}<>"/dev/$(basename "${port%/name}")"
	printf '%s\n' '{"execute":"qmp_capabilities"}' \
		"{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"$*\"},\"id\":\"inject\"}" >&"$port"
	while read -r -t 10 answer <&"$port" && [[ $answer != *'"id": "inject"'* ]]; do :; done
	exec {port}>&-
	echo "$* -> $answer"
	[[ $answer == *'"return": '* ]]
}
