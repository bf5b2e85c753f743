# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# A hard mount whose server stops for 12 s: the oldest waiter's age shows it; nothing is lost or doubled afterwards.
nfs_server_start
agent_start --interval 1
nfs_mount 3 '' /mnt/stop
prepare_file /mnt/stop
compare_point before
load /mnt/stop 20 16 randread 4k &
loader=$!
wait_for 60 reads 100
nfs_server_stop
date +%s.%N >stopped
for i in $(seq 12); do
	sleep 1
	cp x.prom "stopped-$i.prom"
done
nfs_server_start
date +%s.%N >started
wait "$loader"
compare_point after
agent_stop
