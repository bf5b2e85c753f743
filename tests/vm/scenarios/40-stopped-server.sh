# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# A hard mount whose server stops for 12 s: the oldest waiter's age shows it; nothing is lost or doubled afterwards. Then a
# call that is made when connections are refused already: it waits in `delay` until it tries again.
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
nfs_mount 3 '' /mnt/refused 127.0.0.2
ls /mnt/refused
nfs_server_stop
sleep 1
stat /mnt/refused/absent &
refused=$!
sleep 10
agent_write
cp x.prom refused.prom
nfs_server_start
wait "$refused" || true # there is no such file
agent_stop
