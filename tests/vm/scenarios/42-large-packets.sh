# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A path on which packets above 1,000 bytes are lost, as behind a tunnel whose MTU nobody knows: a WRITE does not arrive, then
# the reply to a READ does not.
nfs_server_start
server=$(netns_client tunnel 10.0.8)
dd if=/dev/zero of=/export/data bs=12k count=1 status=none
NETNS=tunnel nfs_mount 3 nolock /mnt/tunnel "$server"
for name in '' tunnel; do
	in_netns "$name" iptables -I INPUT -p tcp -m length --length 1001: -j DROP
	trace_begin "at-${name:-server}"
	stat /mnt/tunnel >/dev/null
	if [[ ! $name ]]; then
		dd if=/dev/zero of=/mnt/tunnel/written bs=64k count=1 oflag=direct status=none &
	else
		dd if=/mnt/tunnel/data of=/dev/null bs=12k count=1 iflag=direct status=none &
	fi
	caller=$!
	sleep 15
	trace_end
	in_netns "$name" iptables -D INPUT 1
	wait "$caller"
done
