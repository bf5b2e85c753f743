# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Set-ups whose limit is known by construction: a session of each, NAME.json, while loads run. Where slots bind and the
# number in flight varied, the predicted gain is compared with that of the proposed setting.
# The clients are in network namespaces with a delay: no emulated CPU is so slow that its own work is most of a call.

# traced NAME COMMAND...: a session while the command runs.
traced() {
	local name=$1 tracer
	shift
	/job/xidscope trace --hooks rpc --json "$name.json" >"$name.txt" 2>"$name.log" &
	tracer=$!
	wait_for 90 grep -q attached "$name.log"
	"$@"
	kill -INT "$tracer"
	wait "$tracer"
}

# depths DIR RW BLOCK DEPTH...: a load of 4 s with each.
depths() {
	local depth
	for depth in "${@:4}"; do
		load "$1" 4 "$depth" "$2" "$3"
	done
}

# measured NAME DIR: calls per second of a load of 32 requests at once.
measured() {
	load "$2" 6 32 randread 4k
	cp fio.json "$1.fio.json"
}

# gain NAME NETNS VERSION SERVER: the same load with the value that the verdict proposes.
gain() {
	local name=$1 value
	value=$(grep -o '"value": *"[0-9]*"' "$name.json" | head -n 1 | tr -dc 0-9)
	[[ $value ]] || return 0
	measured "$name-before" "/mnt/$name"
	umount "/mnt/$name"
	"${name}_limit" "$value"
	NETNS=$2 nfs_mount "$3" '' "/mnt/$name" "$4"
	measured "$name-after" "/mnt/$name"
}

nfs_server_start 16
modprobe nfs
server=$(netns_client far 10.0.7)
tc -n far qdisc add dev eth0 root netem delay 80ms

slot_limit 5
NETNS=far nfs_mount 3 '' /mnt/slot "$server"
prepare_file /mnt/slot
traced slot depths /mnt/slot randread 4k 1 2 32
gain slot far 3 "$server"
umount /mnt/slot

slot_limit 4
NETNS=far nfs_mount 3 '' /mnt/slot "$server"
traced undecided depths /mnt/slot randread 4k 32
umount /mnt/slot

session_limit 4
NETNS=far nfs_mount 4.2 '' /mnt/session "$server"
prepare_file /mnt/session
traced session depths /mnt/session randread 4k 1 2 32
gain session far 4.2 "$server"
umount /mnt/session
session_limit 64

# A slow server, which answers any number of calls at once.
slot_limit 128
NETNS=far nfs_mount 3 '' /mnt/server "$server"
traced server depths /mnt/server randread 4k 8
umount /mnt/server

# Its answers come one after the other.
slot_limit 4
serial=$(netns_client serial 10.0.8)
tc qdisc add dev veth-serial root netem rate 300kbit
NETNS=serial nfs_mount 3 '' /mnt/serial "$serial"
prepare_file /mnt/serial
traced serial depths /mnt/serial randread 4k 1 2 32
umount /mnt/serial

# A link slower than the application.
slot_limit 128
slow=$(netns_client slow 10.0.9)
NETNS=slow nfs_mount 3 '' /mnt/send "$slow"
prepare_file /mnt/send
tc -n slow qdisc add dev eth0 root netem rate 40mbit
traced send depths /mnt/send write 512k 32
tc -n slow qdisc del dev eth0 root
umount /mnt/send

# The network loses packets.
lossy=$(netns_client lossy 10.0.10)
NETNS=lossy nfs_mount 3 '' /mnt/lossy "$lossy"
prepare_file /mnt/lossy
tc -n lossy qdisc add dev eth0 root netem loss 4%
traced resend depths /mnt/lossy randwrite 64k 8
tc -n lossy qdisc del dev eth0 root
umount /mnt/lossy

# One small read after the other, of a server that is near.
nfs_mount 3 '' /mnt/near
prepare_file /mnt/near
traced application depths /mnt/near randread 4k 1

# The client has a tenth of a CPU, and the server another one.
for thread in $(pgrep -x nfsd); do taskset -pc 1 "$thread" >/dev/null; done
hogs=()
for _ in {1..8}; do
	taskset -c 0 sh -c 'while :; do :; done' &
	hogs+=($!)
done
traced client_cpu taskset -c 0 fio --name=load --filename=/mnt/near/load --size=16m --rw=randread --bs=4k --direct=1 \
	--ioengine=psync --numjobs=4 --time_based --runtime=8 --output-format=json --output=fio.json
kill "${hogs[@]}"

# The server stops.
load /mnt/near 600 4 randread 4k &
loader=$!
wait_for 60 reads 100
stop_and_wait() {
	sleep 3
	nfs_server_stop
	sleep 12
}
traced hung stop_and_wait
nfs_server_start 16
load_end "$loader"
