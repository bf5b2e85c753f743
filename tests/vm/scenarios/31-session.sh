# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# 32 requests on 4 session slots (v4.2): `session` is where the time goes; 8 requests on 64 slots never wait.
# (With little memory the server grants fewer than the 64 requested.)
nfs_server_start
modprobe nfs
server=$(netns_client session 10.0.6)
tc -n session qdisc add dev eth0 root netem delay 5ms
agent_start
for slots in 4 64; do
	session_limit "$slots"
	NETNS=session nfs_mount 4.2 '' /mnt/session "$server"
	prepare_file /mnt/session
	compare_point "$slots-before"
	load /mnt/session 5 $((slots == 4 ? 32 : 8)) randread 4k
	cp fio.json "$slots.json"
	compare_point "$slots-after"
	umount /mnt/session
done
agent_stop
