# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A v4.2 server behind a network that loses everything for 12 s: as with a stopped one. Then two whose calls hang since before
# an agent came, one of them in another network namespace: it shows how many and for how long, and sessions that begin then say
# that they hang; the same after so many seconds as the parameter ages says. And one that falls silent before the first call
# that an agent could see.
: "${ages:=1 12 50}"
echo "$ages" >ages
nfs_server_start
server=$(netns_client silent 10.0.4)
agent_start --interval 1
NETNS=silent nfs_mount 4.2 '' /mnt/outage "$server"
prepare_file /mnt/outage
trace_begin stall
outage 'tc -n silent qdisc add dev eth0 root netem loss 100%' 'tc -n silent qdisc del dev eth0 root'
trace_end
agent_stop
umount /mnt/outage

nfs_mount 4.2 '' /mnt/hung
prepare_file /mnt/hung
NETNS=silent nfs_mount 3 nconnect=2 /mnt/far "$server"
ls /mnt/far >/dev/null
tc -n silent qdisc add dev eth0 root netem loss 100%
begin=${EPOCHREALTIME/./}
dd if=/mnt/far/load of=/dev/null bs=4k count=1 iflag=direct status=none &
readers=($!)
sleep 8
tc qdisc add dev lo root netem loss 100%
defer sh -c 'tc qdisc del dev lo root 2>/dev/null || true'
dd if=/mnt/hung/load of=/dev/null bs=4k count=1 iflag=direct status=none &
readers+=($!)
sleep 1
agent_in late
in_folder late agent_write hung
tracers=()
for seconds in 2 7; do
	for source in btf tracepoints; do
		/job/xidscope trace --source $source --hooks rpc --duration $seconds --json "late-$source-$seconds.json" \
			>"late-$source-$seconds.txt" 2>&1 || true &
		tracers+=($!)
	done
done
wait "${tracers[@]}"
echo $((${EPOCHREALTIME/./} - begin)) >far.us
tc qdisc del dev lo root
tc -n silent qdisc del dev eth0 root
wait "${readers[@]}"
umount /mnt/far
in_folder late compare_point answered
agent_stop

for age in $ages; do
	NETNS=silent nfs_mount 4.1 '' /mnt/since "$server"
	tc -n silent qdisc add dev eth0 root netem loss 100%
	begin=${EPOCHREALTIME/./}
	dd if=/mnt/since/load of=/dev/null bs=4k count=1 iflag=direct status=none &
	reader=$!
	sleep "$age"
	tracers=()
	for source in btf tracepoints; do
		/job/xidscope trace --source $source --hooks rpc --duration 6 --json "since-$source-$age.json" \
			>"since-$source-$age.txt" 2>&1 || true &
		tracers+=($!)
	done
	wait "${tracers[@]}"
	echo $((${EPOCHREALTIME/./} - begin)) >"since-$age.us"
	tc -n silent qdisc del dev eth0 root
	wait "$reader"
	umount /mnt/since
done

idle=$(netns_client idle 10.0.5)
NETNS=idle nfs_mount 3 '' /mnt/idle "$idle"
agent_in idle
tc -n idle qdisc add dev eth0 root netem loss 100%
ls /mnt/idle >/dev/null &
lister=$!
sleep 5
in_folder idle agent_write hung
tc -n idle qdisc del dev eth0 root
wait "$lister"
agent_stop
