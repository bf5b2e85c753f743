# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The states of the nodes of `make fleet-live`, a file each second.
#
# The node has two storage systems: "pool" by NFSv3, with 8 RPC slots, and "home" by NFSv4.2. Its jobs ask for 12 reads a
# second of the one and for one of the other.

# answers lost|arrive NAME: those of this server; connections stay.
answers() {
	local rule=-D
	[[ $1 != lost ]] || rule=-A
	iptables $rule OUTPUT -o "veth-$2" -p tcp --sport 2049 -m length --length 100:65535 -j DROP
}

# connections_break SECONDS EACH: those to the pool, again and again.
connections_break() {
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		in_netns pool ss -K dport = :2049 >/dev/null
		sleep "$2"
	done
}
storage_dies() {
	answers lost pool
	connections_break 55 1
}
delay() { tc qdisc "$1" dev "veth-$2" root netem delay "$3" limit 10000; }

xid() { # xid CODE TEXT: as from a driver that fires a tracepoint, too
	driver "xid 0000:c1:00.0 $1 $2"$'\t'"NVRM: Xid (PCI:0000:c1:00): $1, pid=7, name=train, $2"
}
# Incidents by which no node is suspect.
gpu_has_two_incidents() {
	sleep 2
	xid 166 'Unencrypted traffic on an NVLink'
	sleep 13
	xid 170 'NVLink security interrupt'
}
gpu_fails() {
	xid 79 'GPU has fallen off the bus.'
	driver 'raw NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.' \
		'sxid 0000:c3:00.0 20034 Fatal, Link 48'$'\t''nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48'
}

nfs_server_start 8
prepare_file /export
slot_limit 8
driver_load tracepoint
for storage in 'pool 10.0.1 3 12' 'home 10.0.2 4.2 1'; do
	read -r name subnet version rate <<<"$storage"
	server=$(netns_client "$name" "$subnet")
	delay add "$name" 20ms
	NETNS=$name nfs_mount "$version" '' "/mnt/$name" "$server"
	fio --name="$name" --filename="/mnt/$name/load" --size=16m --rw=randread --bs=4k --direct=1 --ioengine=libaio \
		--iodepth=32 --rate_iops="$rate" --time_based --runtime=3600 --eta=never --output=/dev/null &
done

begin --interval 1 --storage 'pool=10.0.1.*' --storage 'home=10.0.2.*'
wait_for 60 grep -q 'attached to sunrpc' agent.log
keep rest 3
keep usual 12
during storm 12 connections_break 12 0.2
delay change pool 1s
keep rest 3
keep slow 12
delay change pool 20ms
keep rest 5
during hung 16 answers lost home
answers arrive home
keep rest 3
during dead 62 storage_dies
during back 12 answers arrive pool
during two_xids 26 gpu_has_two_incidents
xid 58 'Frame-buffer memory interface unstable'
keep rest 2
keep warned 20
during failed 22 gpu_fails
agent_stop
pkill -KILL -x fio
