# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A server that is silent until its client connects to another address of it.
nfs_server_start
for address in 10.0.9.1 10.0.9.3; do
	ip address add "$address/32" dev lo
	defer ip address delete "$address/32" dev lo
done
nfs_mount 4.2 '' /mnt/moved 10.0.9.1
prepare_file /mnt/moved
trace_begin moved
load /mnt/moved 18 4 randread 4k &
loader=$!
wait_for 60 reads 100
iptables -A OUTPUT -d 10.0.9.1 -j DROP
defer sh -c 'iptables -D OUTPUT -d 10.0.9.1 -j DROP 2>/dev/null || true'
sleep 8
move 10.0.9.1 10.0.9.3
wait "$loader"
trace_end
