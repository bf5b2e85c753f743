# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# nconnect=8, and the packets of one connection are late: files, the documented query and the report name it by its
# addresses, which are those of the sockets, also after a reconnect.
# The other connections have a delay, too: no emulated CPU is so slow that the calls queue up at the server.
nfs_server_start
server=$(netns_client late 10.0.6)
agent_start
NETNS=late nfs_mount 3 nconnect=8 /mnt/late "$server"
prepare_file /mnt/late
# sockets NAME: calls until each connection is made, which its first call does; then what is there by both.
sockets() {
	wait_for 60 connect "$1"
	agent_write "$1"
}
connect() {
	load /mnt/late 1 32 randread 4k
	in_netns late ss -Htn state established dport = :2049 | awk '{ print $3, $4 }' >"$1.sockets"
	(($(wc -l <"$1.sockets") == 8))
}
sockets first
late=$(awk 'NR == 4 { print $1 }' first.sockets)
echo "$late" >late
tc -n late qdisc add dev eth0 root handle 1: prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
tc -n late qdisc add dev eth0 parent 1:1 netem delay 10ms
tc -n late qdisc add dev eth0 parent 1:3 netem delay 400ms
tc -n late filter add dev eth0 parent 1: protocol ip u32 match ip sport "${late##*:}" 0xffff flowid 1:3
load_begin /mnt/late 32 randread 4k
for i in {10..21}; do
	sleep 1
	agent_write "$i"
done
/job/xidscope trace --hooks rpc --duration 5 >report.txt 2>trace.log
load_end
# One call at a time, which goes to each connection in turn: no call meets another, and each has as many.
tc -n late qdisc change dev eth0 parent 1:3 netem delay 100ms
load_begin /mnt/late 1 randread 4k
/job/xidscope trace --hooks rpc --duration 10 >alone.txt 2>alone.log
load_end
# Of many calls, those on the late connection have no reply from then on.
load_begin /mnt/late 32 randread 4k
trace_begin stuck --duration 20
sleep 3
tc -n late qdisc change dev eth0 parent 1:3 netem loss 100%
wait "${tracer:?}"
for i in {30..35}; do
	sleep 1
	agent_write "$i"
done
load_end
tc -n late qdisc del dev eth0 root
nfs_server_stop
nfs_server_start
sockets again
wait_for 60 umount /mnt/late # until the calls of killed loads have ended
gone() { agent_write gone && ! says gone.prom 'rpc_transport_info{'; }
wait_for 60 gone # a worker of the kernel closes the connections
agent_stop
