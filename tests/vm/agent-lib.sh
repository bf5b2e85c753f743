# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What scenarios share: the agent's life, and pairs of what it says and what the kernel says.

# agent_start [OPTION...]: an agent that writes x.prom here when it is told to; returns when it has begun. It is run by
# the command in agent_under, if there is one, which must become it.
agent_under=()
agent_start() {
	rm -f x.prom
	"${agent_under[@]}" /job/xidscope run --output x.prom --interval 3600 --keep --log json "$@" 2>>agent.log &
	agent=$!
	wait_for 60 grep -q '"message":"started' agent.log
	wait_for 60 test -e x.prom
}

# agent_write: has x.prom written anew, and waits for it.
agent_write() {
	ln -f x.prom x.before
	kill -HUP "$agent"
	wait_for 20 other_file x.prom x.before
}
other_file() {
	[[ -e $1 && ! $1 -ef $2 ]]
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
		agent_write
		after=$(</proc/self/mountstats)
		if at_rest "$before" "$after"; then
			cp x.prom "$1.prom"
			echo "$after" >"$1.mountstats"
			return 0
		fi
		sleep 0.3
	done
	echo "the client did not come to rest"
	return 1
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

# load DIR SECONDS DEPTH RW BLOCK [FIO-OPTION...]: direct I/O by fio; its report goes to fio.json.
load() {
	local dir=$1 seconds=$2 depth=$3 rw=$4 block=$5
	shift 5
	fio --name=load --filename="$dir/load" --size=16m --rw="$rw" --bs="$block" --direct=1 --ioengine=libaio \
		--iodepth="$depth" --time_based --runtime="$seconds" --output-format=json --output=fio.json "$@"
}

# load_end PID: ends a load that runs in the background. Of a gentler signal, fio 3.33 may wait for I/O that is done.
load_end() {
	pkill -KILL -x fio
	wait "$1" || true
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

# slot_limit N: RPC slots of TCP transports made from now on.
slot_limit() {
	sysctl -qw "sunrpc.tcp_max_slot_table_entries=$1" "sunrpc.tcp_slot_table_entries=$(($1 < 16 ? $1 : 2))"
}
