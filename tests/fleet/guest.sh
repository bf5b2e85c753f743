#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of record.sh: brings a node into one state after the other, and keeps what its agent writes meanwhile, a
# file each second: out/STATE/TIME.prom.
#
# The node has two storage systems: "pool" by NFSv3, with 8 RPC slots, and "home" by NFSv4.2. Its jobs ask for 40 and 5
# reads a second.
set -euo pipefail
# shellcheck source=tests/vm/guest-lib.sh
. /vm/guest-lib.sh
# shellcheck source=tests/vm/agent-lib.sh
. /job/agent-lib.sh

# node_starts: an agent that has seen no fault of a GPU.
node_starts() {
	[[ ! ${agent:-} ]] || agent_stop
	fill_log
	: >agent.log
	agent_start --interval 1 --storage 'pool=10.0.1.*' --storage 'home=10.0.2.*'
	wait_for 60 grep -q 'attached to sunrpc' agent.log
	sleep 5
}

# record STATE SECONDS [COMMAND...]: keeps the agent's files for so long, while the command runs.
record() {
	local end=$((SECONDS + $2)) command
	mkdir -p "out/$1"
	"${@:3}" &
	command=$!
	while ((SECONDS < end)); do
		cp -p x.prom copy
		mv copy "out/$1/$(stat -c %.Y copy).prom"
		sleep 0.3
	done
	wait $command
	echo "$1: $(find "out/$1" -name '*.prom' | wc -l) files in $2 s"
}

# answers lost|arrive NAME: those of this server; connections stay.
answers() {
	local rule=-D
	[[ $1 != lost ]] || rule=-A
	iptables $rule OUTPUT -o "veth-$2" -p tcp --sport 2049 -m length --length 100:65535 -j DROP
}

# connections_break SECONDS: those to the pool, again and again.
connections_break() {
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		in_netns pool ss -K dport = :2049 >/dev/null
		sleep 1
	done
}
storage_dies() {
	answers lost pool
	connections_break 80
}
delay() { tc qdisc "$1" dev "veth-$2" root netem delay "$3" limit 10000; }

xid() { # xid CODE TEXT: as from a driver that fires a tracepoint, too
	driver "xid 0000:c1:00.0 $1 $2"$'\t'"NVRM: Xid (PCI:0000:c1:00): $1, pid=7, name=train, $2"
}
memory_is_unstable() { xid 58 'Frame-buffer memory interface unstable'; }
gpu_fails() {
	memory_is_unstable
	xid 79 'GPU has fallen off the bus.'
	driver 'raw NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.' \
		'sxid 0000:c3:00.0 20034 Fatal, Link 48\tnvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48'
}
# The first two are incidents by which no node is suspect.
third_incident() {
	sleep 2
	xid 166 'Unencrypted traffic on an NVLink'
	sleep 20
	xid 170 'NVLink security interrupt'
	sleep 20
	"$@"
}

cd /job
nfs_server_start
prepare_file /export
slot_limit 8
driver_load tracepoint
for storage in 'pool 10.0.1 3 40' 'home 10.0.2 4.2 5'; do
	read -r name subnet version rate <<<"$storage"
	server=$(netns_client "$name" "$subnet")
	delay add "$name" 20ms
	NETNS=$name nfs_mount "$version" '' "/mnt/$name" "$server"
	fio --name="$name" --filename="/mnt/$name/load" --size=16m --rw=randread --bs=4k --direct=1 --ioengine=libaio \
		--iodepth=32 --rate_iops="$rate" --time_based --runtime=3600 --output="$name.fio" &
done

node_starts
record usual 30 :
record storm 30 connections_break 30
delay change pool 1s
sleep 5
record slow 30 :
delay change pool 20ms
sleep 10
record hung 35 answers lost home
answers arrive home
sleep 10
record dead 90 storage_dies
record back 30 answers arrive pool
node_starts
record warned 70 memory_is_unstable
node_starts
record repeats 90 third_incident memory_is_unstable
node_starts
record failed 90 third_incident gpu_fails
agent_stop
pkill -KILL -x fio
