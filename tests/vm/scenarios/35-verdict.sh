# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Set-ups whose limit is known by construction: a session of each, NAME.json, while loads run. Where the verdict proposes a
# number of slots, or says what more of them would gain at most, the same load is measured before and after the change.
# Most clients are in network namespaces with a delay: no emulated CPU is so slow that its own work is most of a call.
# PARAMETERS="setups='slot send' source=tracepoints": these alone, with that source.
[[ ${setups:-} != quick ]] || setups='send storage window changed readahead'
: "${setups:=slot session undecided server narrow send push resend application client_cpu hung mixed soft window link storage serial workers changed readahead}"
echo "$setups" >setups

# traced NAME COMMAND...: a session while the command runs; or, for the scenario begun-before, sessions that begin later.
traced() {
	local command
	if [[ ${begun:-} ]]; then
		"${@:2}" &
		command=$!
		late_sessions "$1"
		pkill -KILL -x fio || true # soft has none
		wait $command || true
		[[ $2 == stop_and_wait ]] || wait_for 60 no_fio # its jobs are processes of their own; without a server they stay
		return
	fi
	trace_begin "$1" --record "$1.rec" ${source:+--source "$source"}
	"${@:2}"
	trace_end
}

# late_sessions NAME: BEGIN/LENGTH, in seconds after the load and from then on, by each source: NAME-SOURCE-LENGTH-BEGIN.json.
late_sessions() {
	local at by tracers=() more=''
	[[ " ${lasting:-} " != *" $1 "* ]] || more=${later:-}
	for at in $begun $more; do
		for by in ${source:-btf tracepoints}; do
			late_session "${at%/*}" "$by" "${at#*/}" "$1-$by-${at#*/}-${at%/*}" &
			tracers+=($!)
		done
	done
	wait "${tracers[@]}"
}
late_session() {
	sleep "$1"
	/job/xidscope trace --source "$2" --hooks rpc --duration "$3" --json "$4.json" >"$4.txt" 2>"$4.log" || true
}

# loads NAME RW BLOCK DEPTH...: one of 4 s with each depth; one that had begun before the session has the last depth.
loads() {
	local depth
	if [[ ${begun:-} ]]; then
		load "/mnt/$1" 600 "${*: -1}" "$2" "$3"
		return
	fi
	for depth in "${@:4}"; do
		load "/mnt/$1" 4 "$depth" "$2" "$3"
	done
}

# mounted NAME NETNS VERSION SLOTS: the slots are those of RPC or of the session, whichever this version has.
mounted() {
	if [[ $3 == 4.[12] ]]; then session_limit "$4"; else slot_limit "$4"; fi
	NETNS=$2 nfs_mount "$3" '' "/mnt/$1" "${servers[${2:-near}]}"
}

# proposed NAME: the value that the verdict proposes.
proposed() { grep -o '"value": *"[0-9]*"' "$1.json" | head -n 1 | tr -dc 0-9; }

# gain NAME NETNS VERSION RW BLOCK [VALUE]: the rate of a load of 6 s, now and with as many slots as the verdict proposes.
gain() {
	local name=$1 value
	[[ ! ${begun:-} ]] || return 0
	value=$(proposed "$name")
	value=${value:-${6:-}}
	[[ $value ]] || return 0
	load "/mnt/$name" 6 32 "$4" "$5" --output="$name-before.fio.json"
	umount "/mnt/$name"
	mounted "$name" "$2" "$3" "$value"
	load "/mnt/$name" 6 32 "$4" "$5" --output="$name-after.fio.json"
}

# client NAME SUBNET: a client in a network namespace of its own.
declare -A servers=([near]=127.0.0.1)
client() { servers[$1]=$(netns_client "$1" "$2"); }

# few_slots NAME VERSION SLOTS DEPTH...
few_slots() {
	mounted "$1" far "$2" "$3"
	traced "$1" loads "$1" randread 4k "${@:4}"
	gain "$1" far "$2" randread 4k
}
set_up_slot() { few_slots slot 3 5 1 2 32; }
set_up_session() { few_slots session 4.2 4 1 2 32; }
set_up_undecided() { few_slots undecided 3 4 32; }
# A slow server, which answers any number of calls at once.
set_up_server() {
	mounted server far 3 128
	traced server loads server randread 4k 8
}
# A link slower than its small replies.
set_up_narrow() {
	client narrow 10.0.8
	tc qdisc add dev veth-narrow root netem rate 300kbit
	mounted narrow narrow 3 4
	traced narrow loads narrow randread 4k 1 2 32
}
# It writes one call after the other.
set_up_serial() {
	disk_server 1 || return 0
	mounted serial '' 3 4
	traced serial loads serial randwrite 4k 1 2 32
	gain serial '' 3 randwrite 4k 32
}
# A link slower than the application.
set_up_send() {
	client slow 10.0.9
	mounted send slow 3 128
	tc -n slow qdisc add dev eth0 root netem rate 40mbit
	traced send loads send write 512k 32
	tc -n slow qdisc del dev eth0 root
}
# The same, and the socket's buffer is never full.
set_up_push() {
	client push 10.0.15
	mounted push push 3 128
	tc -n push qdisc add dev eth0 root netem rate 40mbit
	traced push loads push randwrite 64k 8
}
# The network loses packets of the client.
set_up_resend() {
	client lossy 10.0.10
	mounted resend lossy 3 128
	tc -n lossy qdisc add dev eth0 root netem loss 4%
	traced resend loads resend randwrite 64k 8
}
# One small request after the other, of a server that is near, but not so near that both are always busy.
set_up_application() {
	client single 10.0.14
	tc -n single qdisc add dev eth0 root netem delay 3ms
	mounted application single 3 128
	traced application loads application randread 4k 1
}
# The client has a small part of the CPU, and the server whatever it wants of it.
set_up_client_cpu() {
	local thread _ begun=${begun:+1/10 12/10} # a busy guest is slow
	mounted client_cpu '' 3 128
	for thread in $(pgrep -x nfsd); do chrt -f -p 1 "$thread"; done
	for _ in $(seq 8); do
		taskset -c 0 sh -c 'while :; do :; done' &
		echo $! >>hogs
	done
	traced client_cpu taskset -c 0 fio --name=load --filename=/mnt/client_cpu/load --size=16m --rw=randread \
		--bs=4k --direct=1 --ioengine=psync --numjobs=4 --time_based --runtime="$((${begun:+600} + 8))" --output=fio.txt
	xargs kill <hogs
	for thread in $(pgrep -x nfsd); do chrt -o -p 0 "$thread"; done
}
# The server stops.
set_up_hung() {
	local loader
	mounted hung '' 3 128
	load /mnt/hung 600 4 randread 4k &
	loader=$!
	wait_for 60 reads 100
	traced hung stop_and_wait
	nfs_server_start 16
	pkill -KILL -x fio || true # of sessions that begin later it has been killed
	wait "$loader" || true
	wait_for 60 no_fio # its jobs are processes of their own
}
# Few slots, and beside them a mount of the same server that has none.
set_up_mixed() {
	slot_limit 5
	NETNS=far nfs_mount 3 '' /mnt/mixed "${servers[far]}"
	NETNS=far nfs_mount 4.1 '' /mnt/beside "${servers[far]}"
	ls /mnt/beside >/dev/null
	traced mixed loads mixed randread 4k 32
	umount /mnt/beside
}
# The server falls silent for a soft mount, whose calls end without an answer.
set_up_soft() {
	client deaf 10.0.11
	NETNS=deaf nfs_mount 3 soft,timeo=10,retrans=1 /mnt/soft "${servers[deaf]}"
	traced soft fall_silent
	tc -n deaf qdisc del dev eth0 root
	wait_for 60 no_dd
}
fall_silent() {
	sleep 2
	tc -n deaf qdisc add dev eth0 root netem loss 100%
	for _ in $(seq $((${begun:+75} + 13))); do
		dd if=/mnt/soft/load of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null &
		sleep 1
	done
}
# A small receive window over a long way; then with the window that the verdict proposes.
set_up_window() {
	client window 10.0.12
	tc -n window qdisc add dev eth0 root netem delay 20ms limit 100000
	receive_buffer 65536
	mounted window window 3 128
	traced window loads window randread 1m 8
	[[ ! ${begun:-} && $(proposed window) ]] || return 0
	load /mnt/window 6 8 randread 1m --output=window-before.fio.json
	umount /mnt/window
	receive_buffer "$(proposed window)"
	mounted window window 3 128
	load /mnt/window 6 8 randread 1m --output=window-after.fio.json
}
receive_buffer() { in_netns window sysctl -q -w "net.ipv4.tcp_rmem=4096 $(($1 < 131072 ? $1 : 131072)) $1"; }
# A link slower than what is read.
set_up_link() {
	client link 10.0.13
	mounted link link 3 128
	tc qdisc add dev veth-link root netem rate 40mbit
	traced link loads link randread 512k 8
	tc qdisc del dev veth-link root
}
# A server near by whose disk takes long.
set_up_storage() {
	local dropper
	disk_server 16 || return 0
	while sleep 0.2; do echo 1 >/proc/sys/vm/drop_caches; done &
	dropper=$!
	mounted storage '' 3 128
	traced storage loads storage randread 64k 4
	kill $dropper
}
# It writes so many at once, and there are as many slots, or just fewer, and many want one.
set_up_workers() {
	disk_server 9 || return 0
	mounted workers '' 3 8
	traced workers loads workers randwrite 4k 1 2 32
	gain workers '' 3 randwrite 4k 32
}
# More slots were set since the mount.
set_up_changed() {
	mounted changed far 3 5
	slot_limit 64
	traced changed loads changed randread 4k 32
}
# A buffered reader, and little is read ahead.
set_up_readahead() {
	mounted readahead far 3 128
	echo 128 >"/sys/class/bdi/$(mountpoint -d /mnt/readahead)/read_ahead_kb"
	traced readahead load /mnt/readahead $((${begun:+600} + 6)) 1 read 64k --direct=0
}
# disk_server THREADS: the server's files are on a disk that takes its time. Fails where the kernel has none.
disk_server() {
	nfs_server_stop
	while ! umount /export; do sleep 0.1; done # its own lock, for a moment
	# Made once by a scenario.
	if [[ ! -b $(cat disk 2>/dev/null) ]] && ! slow_disk 20 >disk; then
		echo none >disk
		nfs_server_start 16
		return 1
	fi
	mount -t ext4 "$(<disk)" /export
	nfs_server_start "$1"
	prepare_file /export
}

no_dd() { ! pgrep -x dd >/dev/null; }
no_fio() { ! pgrep -x fio >/dev/null; }
stop_and_wait() {
	sleep 3
	nfs_server_stop
	sleep 12
}

nfs_server_start 16
modprobe nfs
prepare_file /export
client far 10.0.7
tc -n far qdisc add dev eth0 root netem delay 80ms
for setup in $setups; do
	"set_up_$setup"
	unmount "/mnt/$setup"
done
