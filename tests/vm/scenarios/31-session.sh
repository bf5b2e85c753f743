# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 32 requests on 4 session slots (v4.2): `session` is where the time goes; with 64 slots there is none of it.
nfs_server_start
modprobe nfs
agent_start
for slots in 4 64; do
	echo "$slots" >/sys/module/nfs/parameters/max_session_slots
	nfs_mount 4.2 '' /mnt/session
	prepare_file /mnt/session
	compare_point "$slots-before"
	load /mnt/session 5 32 randread 4k
	cp fio.json "$slots.json"
	compare_point "$slots-after"
	umount /mnt/session
done
agent_stop
