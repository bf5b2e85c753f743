# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What scenarios share: starting and stopping the agent, and pairs of its figures and the kernel's.

# types_install: puts the files of types that this kernel has for out-of-tree modules where agents look for them.
# has_types: whether there are types of sunrpc, the kernel's or in a file that belongs to the loaded module.
types_install() {
	local place
	place=/usr/lib/modules/$(uname -r)/place
	[[ ! -d $place ]] || { mkdir -p /usr/lib/debug && cp -r "$place" /usr/lib/debug/.build-id; }
}
has_types() {
	local file
	[[ ! -e /sys/kernel/btf/sunrpc ]] || return 0
	[[ ! -d /sys/module/sunrpc || -e /sys/module/sunrpc/initstate ]] || return 0 # built in
	for file in /usr/lib/debug/.build-id/*/*.debug; do
		! cmp -s "$file" "/usr/lib/modules/$(uname -r)/types/sunrpc.ko" || return 0
	done
	return 1
}

# says FILE TEXT: whether the text is in the file, without another program.
says() { [[ -e $1 && $(<"$1") == *"$2"* ]]; }

# agent_start [OPTION...]: starts an agent that writes x.prom here on request, with all detail, and health.json, with the acknowledgements in
# acks; returns when it runs. It is run by the command in agent_under, if there is one, which must become it.
agent_under=()
agent_writes=1
agent_started() { ! kill -0 "$agent" 2>/dev/null || { [[ -e x.prom ]] && says agent.log '"message":"started'; }; }
agent_start() {
	rm -f x.prom
	[[ $* != *--interval* ]] || agent_writes=2
	"${agent_under[@]}" /job/xidscope run --output x.prom --health health.json --ack acks --interval 3600 --keep --log json --detail op "$@" 2>>agent.log &
	agent=$!
	wait_for 60 agent_started # or has ended
	[[ -e x.prom ]]
}

# agent_write [NAME]: makes the agent write x.prom, waits for it, and keeps a copy as NAME.prom. The file that was there is kept
# open: no other can have its inode meanwhile. With an interval of its own the agent may be writing what it read before it was
# asked: the second file is what it read since.
agent_write() {
	local old i
	for ((i = 0; i < agent_writes; i++)); do
		exec {old}<x.prom
		kill -HUP "$agent"
		wait_for 20 eval "[[ -e x.prom && ! x.prom -ef /dev/fd/$old ]]"
		exec {old}<&-
	done
	[[ ! ${1:-} ]] || cat x.prom >"$1.prom" # cp refuses a file that is replaced meanwhile
}

# agent_settle SECONDS: returns when the agent has read all that has come, and so long again.
agent_rests() { [[ $(<"/proc/$agent/stat") == *') S '* ]]; }
agent_settle() {
	wait_for 60 agent_rests
	sleep "$1"
	wait_for 60 agent_rests
}

# trace_begin NAME [OPTION...]: starts a session on RPC, and returns when it is attached. trace_end ends it. The session
# writes NAME.txt and NAME.json.
trace_begin() {
	/job/xidscope trace --hooks rpc --json "$1.json" "${@:2}" >"$1.txt" 2>"$1.log" &
	tracer=$!
	wait_for 90 says "$1.log" attached
}
trace_end() {
	kill -INT "$tracer"
	wait "$tracer"
}

# check_faults NAME [OPTION...]: writes the agent's counts to NAME.prom, and the output and exit status of `check` to NAME.check
# and NAME.status.
check_faults() {
	local status=0
	agent_settle 3
	agent_write "$1"
	dmesg | tail -n 200 >"$1.dmesg"
	/job/xidscope check --health health.json "${@:2}" >"$1.check" || status=$?
	echo "$status" >"$1.status"
}

# agent_stop: ends it cleanly; fails if its exit status is not 0.
agent_stop() {
	kill -TERM "$agent"
	wait "$agent"
}

# compare_point NAME: NAME.prom and NAME.mountstats of one moment, that is with no call ending in between.
compare_point() {
	local before after
	for _ in {1..10}; do
		before=$(</proc/self/mountstats)
		agent_write "$1"
		after=$(</proc/self/mountstats)
		if at_rest "$before" "$after"; then
			echo "$after" >"$1.mountstats"
			return 0
		fi
		sleep 0.3
	done
	echo "the client did not come to rest"
	return 1
}

# Several agents at once, each in a folder of its own: agent_in FOLDER OPTION..., started and attached to sunrpc,
# compare_points NAME for each, agents_stop.
declare -A agents
agent_in() {
	mkdir "$1"
	in_folder "$1" agent_start "${@:2}"
	agents[$1]=$agent
	wait_for 20 says "$1/agent.log" 'attached to sunrpc'
}
compare_points() {
	local folder
	for folder in "${!agents[@]}"; do
		agent=${agents[$folder]}
		in_folder "$folder" compare_point "$1"
	done
}
agents_stop() {
	for agent in "${agents[@]}"; do agent_stop; done
}
in_folder() {
	local back=$PWD
	cd "$1" || return
	"${@:2}"
	cd "$back" || return
}

# saturate NAME SUBNET VERSION LIMIT FEW MANY DEPTH: reads from the mount /mnt/NAME, 32 requests at once with FEW slots, DEPTH
# with MANY; the command LIMIT sets the slots. The server is 5 ms away: on any emulated CPU fio keeps the queue filled. Leaves
# SLOTS.json and points SLOTS-before and SLOTS-after.
saturate() {
	local server slots
	server=$(netns_client "$1" "$2")
	tc -n "$1" qdisc add dev eth0 root netem delay 5ms
	for slots in "$5" "$6"; do
		$4 "$slots"
		NETNS=$1 nfs_mount "$3" '' "/mnt/$1" "$server"
		prepare_file "/mnt/$1"
		compare_point "$slots-before"
		load "/mnt/$1" 5 $((slots == $5 ? 32 : $7)) randread 4k
		cp fio.json "$slots.json"
		compare_point "$slots-after"
		umount "/mnt/$1"
	done
}

# outage STOP START: runs STOP under load on the mount at /mnt/outage, and START 12 s later. Leaves points `before` and
# `after`, and stopped-N.prom of each second in between.
outage() {
	local i loader
	compare_point before
	load /mnt/outage 20 16 randread 4k &
	loader=$!
	wait_for 60 reads 100
	$1
	for i in {1..12}; do
		sleep 1
		cp x.prom "stopped-$i.prom"
	done
	$2
	wait "$loader"
	compare_point after
}

# limited_mounts NETNS SERVER: /mnt/three and /mnt/four, NFSv3 and v4.2, with four slots and four session slots.
limited_mounts() {
	slot_limit 4
	session_limit 4
	NETNS=$1 nfs_mount 3 '' /mnt/three "$2"
	NETNS=$1 nfs_mount 4.2 '' /mnt/four "$2"
	prepare_file /mnt/three
	prepare_file /mnt/four
}

# compare_under_load: points `before`, `single`, after one call at a time on these mounts, and `after`, with all slots taken
# and a call that fails.
compare_under_load() {
	compare_points before
	load /mnt/three 1 1 randrw 4k
	load /mnt/four 1 1 randrw 4k
	compare_points single
	load /mnt/three 3 32 randrw 4k
	load /mnt/four 3 32 randrw 4k
	ls /mnt/three/absent /mnt/four/absent 2>/dev/null || true
	compare_points after
}

# types_at_place MODULE FILE: puts FILE where the agent looks for the types of the loaded module.
types_at_place() {
	local id
	id=$(od -An -v -tx1 -j 16 "/sys/module/$1/notes/.note.gnu.build-id" | tr -d ' \n')
	defer rm -rf /usr/lib/debug/.build-id
	install -D -m 644 "$2" "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}

# at_rest MOUNTSTATS LATER: whether nothing has changed but ages and transports' idle times.
at_rest() {
	local old new i
	mapfile -t old <<<"$1"
	mapfile -t new <<<"$2"
	((${#old[@]} == ${#new[@]})) || return 1
	for i in "${!old[@]}"; do
		[[ ${old[i]} == "${new[i]}" || ${old[i]} =~ ^[[:space:]]*(age|xprt): ]] || return 1
	done
}

# nfs_unload: removes sunrpc and all that uses it; fails while something is in use. Nothing may be mounted.
nfs_unload() {
	umount /proc/fs/nfsd /run/rpc_pipefs 2>/dev/null || true
	modprobe -r nfsv3 nfsv4 nfs nfsd 2>/dev/null || true
	modprobe -r rpcsec_gss_krb5 auth_rpcgss lockd nfs_acl 2>/dev/null || true
	[[ ! -d /sys/module/sunrpc ]] || rmmod sunrpc
}

# nfs_server_end: stops the server with its daemons, so that the modules are free.
nfs_server_end() {
	[[ ! -e /proc/fs/nfsd/threads ]] || nfs_server_stop
	pkill -x rpc.mountd || true
	pkill -x rpc.statd || true
	pkill -x nfsdcld || true
}

# nfs_remove: ends the server and removes all modules of NFS, so that the next user loads those of the kernel.
nfs_remove() {
	nfs_server_end
	wait_for 20 nfs_unload 2>/dev/null
}

# load DIR SECONDS DEPTH RW BLOCK [FIO-OPTION...]: direct I/O by fio; its report goes to fio.json.
load() {
	local dir=$1 seconds=$2 depth=$3 rw=$4 block=$5
	shift 5
	fio --name=load --filename="$dir/load" --size=16m --rw="$rw" --bs="$block" --direct=1 --ioengine=libaio \
		--iodepth="$depth" --time_based --runtime="$seconds" --output-format=json --output=fio.json "$@"
}

# reads COUNT: whether the client has done more, on any mount.
reads() {
	awk -v count="$1" '$1 ~ /^READ(_PLUS)?:$/ && $2 > count { enough = 1 } END { exit !enough }' /proc/self/mountstats
}

# load_begin DIR DEPTH RW BLOCK: a load in the background, until load_end; returns when there were reads. Of a gentler signal,
# fio 3.33 may wait for I/O that is done.
load_begin() {
	load "$1" 3600 "${@:2}" &
	loader=$!
	wait_for 60 reads 100
}
load_end() {
	pkill -KILL -x fio
	wait "$loader" || true
}

# prepare_file DIR: the file that load reads, there before anything is counted.
prepare_file() {
	dd if=/dev/zero of="$1/load" bs=1M count=16 conv=fsync status=none
}

# need_drivers: ends the scenario where no test drivers could be built.
need_drivers() {
	[[ ! -d /job/modules ]] || return 0
	echo 'no test drivers for this kernel: Debian has dropped its headers' >skip
	exit 0
}

# driver_load KIND: loads a test driver: tracepoint, or text, which has none.
driver_load() {
	defer module_remove nvidia
	insmod "/job/modules/$1/nvidia.ko" "${@:2}"
}
module_remove() {
	[[ ! -d /sys/module/$1 ]] || rmmod "$1"
}

# driver LINE...: commands to the test driver; modules/driver.c lists them.
driver() { printf '%s\n' "$@" >/proc/xidscope-driver; }

# driver_watched: whether the agent watches its tracepoint, or does not need it. xid BUS: the text of an Xid 79 there.
driver_watched() {
	agent_write
	grep -q 'hook_attached{hook="nvidia_dev_xid"} 1\|fault_authority{authority="hook"} 1' x.prom
}
xid() { echo "NVRM: Xid (PCI:0000:$1:00): 79, pid=7, name=x, GPU has fallen off the bus."; }

# join_group PATH: puts this process into a control group, which is made. in_group PATH COMMAND...: runs the command there.
join_group() {
	mkdir -p "/sys/fs/cgroup/$1"
	echo "$BASHPID" >"/sys/fs/cgroup/$1/cgroup.procs"
}
in_group() (
	join_group "$1"
	exec "${@:2}"
)

# block MATCH...: what is sent and matches is lost, until unblock MATCH... or the scenario's end.
block() {
	defer unblock "$@"
	iptables -A OUTPUT "$@" -j DROP
}
unblock() { iptables -D OUTPUT "$@" -j DROP 2>/dev/null || true; }

# out_of_memory GROUP COMMAND...: runs the command in a control group of that name, with a limit of 20 MB.
out_of_memory() {
	local group=/sys/fs/cgroup/$1
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir "$group"
	defer rmdir "$group"
	echo 20M >"$group/memory.max"
	in_group "$@" || true
}

# nobody COMMAND...: as an unprivileged user.
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# fill_log: overwrites what the kernel log holds, so that an agent that starts finds no faults in it.
fill_log() { driver 'count 40000 raw filling the kernel log: %d'; }

# slot_limit N: RPC slots of TCP transports made from now on, in this scenario.
slot_limit() {
	set_value /proc/sys/sunrpc/tcp_max_slot_table_entries "$1"
	set_value /proc/sys/sunrpc/tcp_slot_table_entries $(($1 < 16 ? $1 : 2))
}

# session_limit N: session slots that NFSv4.1 mounts request from now on, in this scenario.
session_limit() {
	set_value /sys/module/nfs/parameters/max_session_slots "$1"
}
