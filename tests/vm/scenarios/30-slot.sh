# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# 32 requests on 4 RPC slots: `slot` is where the time goes, all of the time; with 128 slots there is none of it.
# The server is 5 ms away: no emulated CPU is so slow that fio could not keep the queue filled.
nfs_server_start
server=$(netns_client slot 10.0.5)
tc -n slot qdisc add dev eth0 root netem delay 5ms
agent_start
for slots in 4 128; do
	slot_limit "$slots"
	NETNS=slot nfs_mount 3 '' /mnt/slot "$server"
	prepare_file /mnt/slot
	compare_point "$slots-before"
	load /mnt/slot 5 32 randread 4k
	cp fio.json "$slots.json"
	compare_point "$slots-after"
	umount /mnt/slot
done
agent_stop
