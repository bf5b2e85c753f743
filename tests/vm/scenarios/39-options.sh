# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Eight clients of one export, of which four are mounted otherwise than the rest: the metrics have the options in force.
nfs_server_start
for i in {1..8}; do
	server=$(netns_client "c$i" "10.1.$i")
	options=nconnect=4,wsize=262144
	[[ $i != 2 ]] || options=wsize=262144
	[[ $i != 3 ]] || options=nconnect=4,wsize=65536
	[[ $i != 5 ]] || options+=,soft
	NETNS=c$i nfs_mount 4.2 "$options" "/mnt/c$i" "$server"
	ls "/mnt/c$i" >/dev/null
	# new mounts of later kernels have a readahead of their own
	kb=1024
	[[ $i != 7 ]] || kb=128
	echo "$kb" >"/sys/class/bdi/$(mountpoint -d "/mnt/c$i")/read_ahead_kb"
done
agent_start
agent_write options
agent_stop
