# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2086 # loads and depths are lists
# Set-ups whose limit is known by construction: a session of each, NAME.json, while loads run. Where the verdict proposes a
# number of slots, or says what more of them would gain at most, the same load is measured before and after the change.
# Most clients are in network namespaces with a delay: no emulated CPU is so slow that its own work is most of a call.
#
# Parameters can be set: PARAMETERS="slots=16 depths='1 4 64'" tests/vm/check.sh --only verdict KERNEL. A load
# is RW BLOCK [DEPTH], a rate and a delay are netem's. source=tracepoints: with that source.
[[ ${setups:-} != quick ]] || setups='send storage window changed readahead'
: "${setups:=slot session undecided server narrow send push resend application client_cpu hung mixed soft window link storage serial workers changed readahead}"
: "${slots:=5}" "${slot_version:=3}" "${session_slots:=4}" "${session_version:=4.2}"
: "${version:=3}" "${few:=4}"              # of the others: NFS, and slots where they are few
: "${delay:=80ms}" "${load:=randread 4k}"  # of what is far away
: "${depths:=1 2 32}"                      # so many requests at once, one number after the other
: "${server_load:=randread 4k 8}" "${narrow_rate:=300kbit}" "${narrow_load:=randread 4k}"
: "${rate:=40mbit}" "${rate_load:=write 512k 32}" "${push_load:=randwrite 64k 8}" "${loss:=4%}" "${loser:=client}" "${loss_load:=randwrite 64k 8}"
: "${single_load:=randread 4k 1}" "${single_delay:=3ms}" "${hogs:=8}" "${starved_load:=randread 4k}" "${starved_jobs:=4}" "${hung_load:=randread 4k 4}"
: "${window:=65536}" "${window_delay:=20ms}" "${window_load:=randread 1m 8}"
: "${link_rate:=netem rate 40mbit}" "${link_load:=randread 512k 8}"
: "${storage_ms:=20}" "${storage_load:=randread 64k 4}" "${workers:=9}" "${worker_slots:=8}"
most=${depths##* }
echo "$setups" >setups
echo "$version" >version

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
	load "/mnt/$name" 6 "$most" "$4" "$5" --output="$name-before.fio.json"
	umount "/mnt/$name"
	mounted "$name" "$2" "$3" "$value"
	load "/mnt/$name" 6 "$most" "$4" "$5" --output="$name-after.fio.json"
}

# client NAME SUBNET: a client in a network namespace of its own.
declare -A servers=([near]=127.0.0.1)
client() { servers[$1]=$(netns_client "$1" "$2"); }

# few_slots NAME VERSION SLOTS DEPTH...
few_slots() {
	mounted "$1" far "$2" "$3"
	traced "$1" loads "$1" $load "${@:4}"
	gain "$1" far "$2" $load
}
set_up_slot() { few_slots slot "$slot_version" "$slots" $depths; }
set_up_session() { few_slots session "$session_version" "$session_slots" $depths; }
set_up_undecided() { few_slots undecided "$version" "$few" "$most"; }
# A slow server, which answers any number of calls at once.
set_up_server() {
	mounted server far "$version" 128
	traced server loads server $server_load
}
# A link slower than its small replies.
set_up_narrow() {
	client narrow 10.0.8
	tc qdisc add dev veth-narrow root netem rate "$narrow_rate"
	mounted narrow narrow "$version" "$few"
	traced narrow loads narrow $narrow_load $depths
}
# It writes one call after the other.
set_up_serial() {
	disk_server 1 || return 0
	mounted serial '' "$version" "$few"
	traced serial loads serial randwrite 4k $depths
	gain serial '' "$version" randwrite 4k "$most"
}
# A link slower than the application.
set_up_send() {
	client slow 10.0.9
	mounted send slow "$version" 128
	tc -n slow qdisc add dev eth0 root netem rate "$rate"
	traced send loads send $rate_load
	tc -n slow qdisc del dev eth0 root
}
# The same, and the socket's buffer is never full.
set_up_push() {
	client push 10.0.15
	mounted push push "$version" 128
	tc -n push qdisc add dev eth0 root netem rate "$rate"
	traced push loads push $push_load
}
# The network loses packets of one side.
set_up_resend() {
	client lossy 10.0.10
	mounted resend lossy "$version" 128
	if [[ $loser == server ]]; then
		tc qdisc add dev veth-lossy root netem loss "$loss"
	else
		tc -n lossy qdisc add dev eth0 root netem loss "$loss"
	fi
	traced resend loads resend $loss_load
}
# One small request after the other, of a server that is near, but not so near that both are always busy.
set_up_application() {
	client single 10.0.14
	tc -n single qdisc add dev eth0 root netem delay "$single_delay"
	mounted application single "$version" 128
	traced application loads application $single_load
}
# The client has a small part of the CPU, and the server whatever it wants of it.
set_up_client_cpu() {
	local thread _ begun=${begun:+1/10 12/10} # a busy guest is slow
	mounted client_cpu '' "$version" 128
	for thread in $(pgrep -x nfsd); do chrt -f -p 1 "$thread"; done
	for _ in $(seq "$hogs"); do
		taskset -c 0 sh -c 'while :; do :; done' &
		echo $! >>hogs
	done
	traced client_cpu taskset -c 0 fio --name=load --filename=/mnt/client_cpu/load --size=16m --rw=${starved_load% *} \
		--bs=${starved_load#* } --direct=1 --ioengine=psync --numjobs="$starved_jobs" --time_based --runtime="$((${begun:+600} + 8))" --output=fio.txt
	xargs kill <hogs
	for thread in $(pgrep -x nfsd); do chrt -o -p 0 "$thread"; done
}
# The server stops.
set_up_hung() {
	local loader
	mounted hung '' "$version" 128
	load /mnt/hung 600 "${hung_load##* }" ${hung_load% *} &
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
	slot_limit "$slots"
	NETNS=far nfs_mount 3 '' /mnt/mixed "${servers[far]}"
	NETNS=far nfs_mount 4.1 '' /mnt/beside "${servers[far]}"
	ls /mnt/beside >/dev/null
	traced mixed loads mixed $load "$most"
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
	tc -n window qdisc add dev eth0 root netem delay "$window_delay" limit 100000
	receive_buffer "$window"
	mounted window window "$version" 128
	traced window loads window $window_load
	[[ ! ${begun:-} && $(proposed window) ]] || return 0
	load /mnt/window 6 "${window_load##* }" ${window_load% *} --output=window-before.fio.json
	umount /mnt/window
	receive_buffer "$(proposed window)"
	mounted window window "$version" 128
	load /mnt/window 6 "${window_load##* }" ${window_load% *} --output=window-after.fio.json
}
receive_buffer() { in_netns window sysctl -q -w "net.ipv4.tcp_rmem=4096 $(($1 < 131072 ? $1 : 131072)) $1"; }
# A link slower than what is read.
set_up_link() {
	client link 10.0.13
	mounted link link "$version" 128
	tc qdisc add dev veth-link root $link_rate
	traced link loads link $link_load
	tc qdisc del dev veth-link root
}
# A server near by whose disk takes long.
set_up_storage() {
	local dropper
	disk_server 16 || return 0
	while sleep 0.2; do echo 1 >/proc/sys/vm/drop_caches; done &
	dropper=$!
	mounted storage '' "$version" 128
	traced storage loads storage $storage_load
	kill $dropper
}
# It writes so many at once, and there are as many slots, or just fewer, and many want one.
set_up_workers() {
	disk_server "$workers" || return 0
	mounted workers '' 3 "$worker_slots"
	traced workers loads workers randwrite 4k $depths
	gain workers '' 3 randwrite 4k "$most"
}
# More slots were set since the mount.
set_up_changed() {
	mounted changed far 3 "$slots"
	slot_limit 64
	traced changed loads changed randread 4k "$most"
}
# A buffered reader, and little is read ahead.
set_up_readahead() {
	mounted readahead far "$version" 128
	echo 128 >"/sys/class/bdi/$(mountpoint -d /mnt/readahead)/read_ahead_kb"
	traced readahead load /mnt/readahead $((${begun:+600} + 6)) 1 read 64k --direct=0
}
# disk_server THREADS: the server's files are on a disk that takes its time. Fails where the kernel has none.
disk_server() {
	nfs_server_stop
	while ! umount /export; do sleep 0.1; done # its own lock, for a moment
	# Made once by a scenario.
	if [[ ! -b $(cat disk 2>/dev/null) ]] && ! slow_disk "$storage_ms" >disk; then
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
tc -n far qdisc add dev eth0 root netem delay "$delay"
for setup in $setups; do
	"set_up_$setup"
	unmount "/mnt/$setup"
done
