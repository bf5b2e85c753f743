# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# pNFS: what is read from and written to a data server is that server's; the metadata server has the rest. `trace --files`
# names the files there as well.
# knfsd has no layout for data servers in Debian's kernels: a proxy in front of it reports one.
nfs_server_start
ip address add 10.0.9.1/32 dev lo
defer ip address delete 10.0.9.1/32 dev lo
python3 /job/scenarios/layout_proxy.py 20490 10.0.9.1 2>proxy.log &
defer kill $!
agent_start
wait_for 30 sh -c 'ss -ltn | grep -q :20490'
nfs_mount 4.1 port=20490 /mnt/pnfs
prepare_file /mnt/pnfs
compare_point before
load /mnt/pnfs 2 16 randrw 4k
compare_point after
agent_stop
trace_begin files --files
dd if=/dev/zero of=/mnt/pnfs/known bs=64k count=16 oflag=direct status=none
dd if=/mnt/pnfs/known of=/dev/null bs=64k count=16 iflag=direct status=none
trace_end
