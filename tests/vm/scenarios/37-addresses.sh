# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Servers behind one address with different ports, one name with two addresses, and one client with two addresses
# (max_connect): the agents of all sources count the same connections and slots.
sources='tracepoints mountstats'
modprobe sunrpc
! has_types || sources="btf $sources"
echo "$sources" >sources
modprobe nfs
nfs_server_start 16
echo "tcp 20127" >/proc/fs/nfsd/portlist
prepare_file /export
for source in $sources; do
	agent_in "$source" --source "$source"
done
has_trunking() { [[ -e /sys/kernel/sunrpc ]]; }
# mount_at NAME SERVER ADDRESS VERSION [OPTION...]: without the helper, which would look the name up. Then four READs.
mount_at() {
	local path=/export options=addr=$3,vers=$4
	[[ $4 == 3 ]] || path=/
	[[ $4 == 3 ]] || ! has_trunking || options+=,max_connect=4
	mkdir -p "/mnt/$1"
	defer unmount "/mnt/$1"
	mount -i -t nfs -o "$options$(printf ',%s' proto=tcp nosharecache "${@:5}")" "$2:$path" "/mnt/$1"
	dd if="/mnt/$1/load" of=/dev/null bs=64k count=4 iflag=direct status=none
}
mount_at near 127.0.0.1 127.0.0.1 3
mount_at port 127.0.0.1 127.0.0.1 3 port=20127
mount_at other 127.0.0.2 127.0.0.2 3
mount_at many-1 many 127.0.0.3 3
mount_at many-2 many 127.0.0.4 3 nconnect=3
mount_at trunk 127.0.0.5 127.0.0.5 4.1
mount_at trunked 127.0.0.6 127.0.0.6 4.1
for source in $sources; do
	# shellcheck disable=SC2034,SC2154 # of agent-lib.sh
	agent=${agents[$source]}
	in_folder "$source" agent_write after
done
grep -H . /sys/kernel/sunrpc/xprt-switches/*/xprt-*/{dstaddr,xprt_info} >sysfs 2>/dev/null || true
# One that starts now learns the clients from files.
agent_in late --source tracepoints
dd if=/mnt/port/load of=/dev/null bs=64k count=4 iflag=direct status=none
# shellcheck disable=SC2034 # of agent-lib.sh
agent=${agents[late]}
in_folder late agent_write after
agents_stop
