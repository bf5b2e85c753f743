# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A hard mount whose server stops for 12 s: the oldest waiter's age shows it; nothing is lost or doubled afterwards. Then a
# call that is made when connections are refused already: it waits in `delay` until it tries again.
nfs_server_start
agent_start --interval 1
nfs_mount 3 '' /mnt/outage
prepare_file /mnt/outage
outage nfs_server_stop nfs_server_start
nfs_mount 3 '' /mnt/refused 127.0.0.2
ls /mnt/refused
nfs_server_stop
sleep 1
stat /mnt/refused/absent &
refused=$!
sleep 10
agent_write refused
nfs_server_start
wait "$refused" || true # there is no such file
agent_stop
