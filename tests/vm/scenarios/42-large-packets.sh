# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A path on which packets above 1,000 bytes are lost, as behind a tunnel whose MTU nobody knows: a WRITE does not arrive, then
# the reply to a READ does not.
nfs_server_start
server=$(netns_client tunnel 10.0.8)
NETNS=tunnel nfs_mount 3 nolock /mnt/tunnel "$server"
dd if=/dev/zero of=/mnt/tunnel/data bs=16k count=1 oflag=direct status=none
for chain in INPUT OUTPUT; do
	side=-o
	[[ $chain == OUTPUT ]] || side=-i
	iptables -I "$chain" $side veth-tunnel -m length --length 1001: -j DROP
	trace_begin "${chain,,}"
	if [[ $chain == INPUT ]]; then
		dd if=/dev/zero of=/mnt/tunnel/data bs=16k count=1 oflag=direct conv=notrunc status=none &
	else
		dd if=/mnt/tunnel/data of=/dev/null bs=16k count=1 iflag=direct status=none &
	fi
	caller=$!
	sleep 15
	trace_end
	iptables -D "$chain" 1
	wait "$caller"
done
