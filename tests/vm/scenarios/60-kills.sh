# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tasks killed in every phase, soft mounts that time out: no entry stays in the table of waiters, counts still agree.
# A round for each reason to wait; as many as it takes for the calls that a soak test wants.
calls=$(cat /job/soak_calls)
enough() {
	((round >= 3)) || return 1
	agent_write
	(($(sed -n 's/^xidscope_rpc_op_calls_total.* //p' x.prom | paste -sd+) >= calls))
}
# What hangs, and where in the kernel.
stuck() {
	local pid
	for pid in $(pgrep -x 'fio|ls'); do grep -s . "/proc/$pid/comm" "/proc/$pid"/task/*/stack; done
	return 1
}
nfs_server_start
server=$(netns_client kills 10.0.7)
agent_start
slot_limit 4
NETNS=kills nfs_mount 3 soft,timeo=5,retrans=1 /mnt/slots "$server"
session_limit 4
NETNS=kills nfs_mount 4.2 soft,timeo=5,retrans=1 /mnt/sessions "$server"
prepare_file /mnt/slots
prepare_file /mnt/sessions
compare_point before
round=0
until enough; do
	round=$((round + 1))
	for dir in /mnt/slots /mnt/sessions; do
		fio --name=kill --filename=$dir/load --size=16m --rw=randrw --bs=16k --direct=1 --ioengine=libaio \
			--iodepth=32 --time_based --runtime=30 --continue_on_error=all --output=/dev/null 2>/dev/null &
	done
	sleep $((calls ? 20 : 2))
	case $((round % 3)) in
	0) tc -n kills qdisc add dev eth0 root netem rate 2mbit ;;
	1) tc -n kills qdisc add dev eth0 root netem loss 100% ;;
	2) nfs_server_stop ;;
	esac
	sleep 2
	pkill -x -KILL fio || true
	sleep 1
	tc -n kills qdisc del dev eth0 root 2>/dev/null || true
	((round % 3 != 2)) || nfs_server_start
	# A killed task ends when its call does, which may wait for the client's recovery on v4.2. What fio forked while
	# it was killed is killed, too.
	wait_for 120 sh -c 'pkill -x -KILL fio; ! pgrep -x fio >/dev/null' || stuck
done
wait_for 120 ls /mnt/slots || stuck
wait_for 120 ls /mnt/sessions || stuck
compare_point after
umount -f /mnt/slots || umount -l /mnt/slots
umount -f /mnt/sessions || umount -l /mnt/sessions
sleep 3
agent_write # what ended without a request is swept then
bpftool -j map dump name task_keys >waiters.json
bpftool -j map dump name rpc_bpf.bss >variables.json
bpftool -j map dump name rpc_bpf.rodata >constants.json
agent_write
agent_stop
