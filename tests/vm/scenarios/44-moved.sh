# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A server that is silent until its client connects to another address of it, after 8 s and after 3 s; and one that restarts and
# wants its clients to take their files back, with a v3 mount beside it.
nfs_server_start
own_addresses 10.0.9.{1,3}
nfs_mount 4.2 '' /mnt/moved 10.0.9.1
prepare_file /mnt/moved
trace_begin moved
load /mnt/moved 18 4 randread 4k &
loader=$!
wait_for 60 reads 100
block -d 10.0.9.1
sleep 8
move 10.0.9.1 10.0.9.3
wait "$loader"
trace_end

trace_begin short
load /mnt/moved 14 4 randread 4k &
loader=$!
unblock -d 10.0.9.1
sleep 4
block -d 10.0.9.3
sleep 3.5
move 10.0.9.3 10.0.9.1
wait "$loader"
trace_end
unblock -d 10.0.9.3

nfs_mount 3 '' /mnt/three 10.0.9.1
trace_begin restart
load /mnt/moved 40 4 randread 4k &
loader=$!
wait_for 60 reads 100
while sleep 0.5; do touch /mnt/three/file /mnt/moved/other; done &
toucher=$!
nfs_server_stop
sleep 10
nfs_server_start
wait "$loader"
kill "$toucher"
trace_end
