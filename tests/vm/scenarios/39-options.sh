# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two clients mount one export with other options: the metrics have those in force.
nfs_server_start
for i in 1 2; do
	server=$(netns_client "c$i" "10.1.$i")
	options=nconnect=4,wsize=262144 kb=1024
	[[ $i != 2 ]] || options=wsize=65536,soft kb=128
	NETNS=c$i nfs_mount 4.2 "$options" "/mnt/c$i" "$server"
	ls "/mnt/c$i" >/dev/null
	# new mounts of later kernels have a readahead of their own
	echo "$kb" >"/sys/class/bdi/$(mountpoint -d "/mnt/c$i")/read_ahead_kb"
done
agent_start
agent_write options
agent_stop
