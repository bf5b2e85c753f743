# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A server whose host is gone: its address has no answer, and connecting fails each time.
nfs_server_start
server=$(netns_client lost 10.0.8)
NETNS=lost nfs_mount 3 nolock /mnt/lost "$server"
mkdir -p /export/a /export/b /export/c
nfs_server_stop
ip address delete 10.0.8.1/24 dev veth-lost
ip -n lost neigh flush dev eth0
agent_start --interval 5 --events events.json
trace_begin lost
for name in a b c; do stat "/mnt/lost/$name" >/dev/null & callers+=($!); done
sleep 40
trace_end
ip address add 10.0.8.1/24 dev veth-lost
nfs_server_start
wait "${callers[@]}"
sleep 7
agent_stop
