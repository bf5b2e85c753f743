#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make bench` (it becomes the job's run.sh): the same work with nothing attached, then with each
# observer, in turn. Leaves in out: bench.tsv (setting, pass, workload, repeat, nanoseconds, calls), cost.tsv (setting, what,
# value), and the kernel's run statistics of each of the agent's programs.
set -euo pipefail
. /vm/guest-lib.sh
cd /job
trap 'echo "FAILED at line $LINENO: $BASH_COMMAND"' ERR
settings=$(cat settings)
repeats=$(cat repeats)
tab=$'\t'

sysctl -qw kernel.watchdog=0 vm.stat_interval=3600 2>/dev/null || true
nfs_server_start 1 # one thread: with more, who wakes whom when makes single runs differ by 1 %
nfs_mount 3 '' /mnt/v3
nfs_mount 4.2 '' /mnt/v4.2
sysctl -qw sunrpc.tcp_slot_table_entries=4 sunrpc.tcp_max_slot_table_entries=4
nfs_mount 3 '' /mnt/slot 127.0.0.2
dd if=/dev/zero of=/mnt/v3/load bs=1M count=16 conv=fsync status=none
dd if=/dev/zero of=/mnt/v3/write bs=1M count=16 conv=fsync status=none

# name, mount, load's arguments
workloads='read-v3-1 v3 load read 1 3000
read-v3-64 v3 load read 64 3000
read-v4.2-1 v4.2 load read 1 3000
read-v4.2-64 v4.2 load read 64 3000
slot-v3-64 slot load read 64 3000
write-v3 v3 write write 1 32
write-v4.2 v4.2 write write 1 32'

# work SETTING PASS: each workload, REPEATS times in turn.
work() {
	local setting=$1 pass=$2 repeat name mount file args ns
	for repeat in $(seq "$repeats"); do
		while read -r name mount file args; do
			# shellcheck disable=SC2086 # load's arguments
			ns=$(./load "/mnt/$mount/$file" $args "$repeat")
			echo "$setting$tab$pass$tab$name$tab$repeat$tab$ns$tab${args##* }" >>out/bench.tsv
		done <<<"$workloads"
	done
}

cost() { echo "$setting$tab$1$tab$2" >>out/cost.tsv; }
# Of all its processes. The kernel counts VmRSS late.
smaps() { for pid in "$observer" $(pgrep -P "$observer"); do cat "/proc/$pid/$1"; done; }
map_bytes() { bpftool -j map show | tr '{' '\n' | sed -n 's/.*"bytes_memlock":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }
now() { awk '{ print int($1 * 1000) }' /proc/uptime; }
programs() { bpftool prog show | grep -c '^[0-9]*: ' || true; }

# attached N: at least N programs are loaded, and no more are coming.
attached() {
	local before
	before=$(programs)
	((before >= $1)) || return 1
	sleep 1
	(($(programs) == before))
}

start() {
	case $1 in
	agent) ./xidscope run --output out/agent.prom --interval 3600 --keep 2>>out/agent.log & ;;
	file) ./xidscope run --sunrpc-btf "/usr/lib/modules/$(uname -r)/types/sunrpc.ko" --output out/file.prom --interval 3600 --keep 2>>out/file.log & ;;
	tracepoints) ./xidscope run --source tracepoints --output out/tracepoints.prom --interval 3600 --keep 2>>out/tracepoints.log & ;;
	trace) ./xidscope trace >out/trace.txt 2>>out/trace.log & ;;
	files) ./xidscope trace --files >out/files.txt 2>>out/files.log & ;;
	bpftrace) BPFTRACE_STRLEN=32 bpftrace rpc.bt >out/bpftrace.txt 2>>out/bpftrace.log & ;;
	nfsdist) /usr/sbin/nfsdist 3600 1 >out/nfsdist.txt 2>>out/nfsdist.log & ;;
	esac
	observer=$!
	wait_for 100 attached $((idle_programs + 2))
}

stop() {
	kill -INT "$observer"
	wait "$observer" || true
	wait_for 20 test "$(programs)" = "$idle_programs"
}

# start_traced: starts the agent once more, and notes when functions and system calls of its start begin and end.
start_traced() {
	local tracing=/sys/kernel/tracing
	mountpoint -q $tracing || mount -t tracefs none $tracing
	cat probes >$tracing/uprobe_events
	echo 'id == 321' | tee $tracing/events/raw_syscalls/sys_{enter,exit}/filter >/dev/null # bpf()
	echo 1 | tee $tracing/events/{raw_syscalls,uprobes}/enable >/dev/null
	# shellcheck disable=SC2016 # the shell's own
	sh -c 'echo $$ >"$0/set_event_pid"; exec ./xidscope run --output out/start.prom --interval 3600' $tracing 2>>out/start.log &
	observer=$!
	wait_for 100 attached $((idle_programs + 2))
	cat $tracing/trace >out/start
	stop
	echo 0 | tee $tracing/events/{raw_syscalls,uprobes}/enable >/dev/null
	: >$tracing/set_event_pid
	: >$tracing/uprobe_events
}

idle_programs=$(programs)
[[ $settings != *agent* ]] || start_traced
work warm 0
pass=0
work none 0
for setting in $settings; do
	pass=$((pass + 1))
	maps=$(map_bytes)
	begin=$(now)
	start "$setting"
	case $setting in
	agent | file | tracepoints) cost attached_ms "$(sed -n 's/.*started in \([0-9]*\) ms.*/\1/p' "out/$setting.log" | tail -n 1)" ;;
	bpftrace | nfsdist) cost attached_ms $(($(now) - begin - 1000)) ;;
	esac
	work "$setting" "$pass"
	cost resident_bytes "$(smaps smaps_rollup | awk '$1 == "Pss:" { n += $2 } END { print n * 1024 }')"
	cost map_bytes $(($(map_bytes) - ${maps:-0}))
	if [[ $setting == agent ]]; then
		smaps smaps >out/smaps
		kill -HUP "$observer"
		sleep 1
		sysctl -qw kernel.bpf_stats_enabled=1
		while read -r name mount file args; do
			[[ $name == read-*-1 ]] || continue
			for repeat in 1 2 3 4 5; do
				bpftool -j prog show >"out/stats-$name-$repeat-before.json"
				# shellcheck disable=SC2086 # load's arguments
				./load "/mnt/$mount/$file" $args 1 >/dev/null
				bpftool -j prog show >"out/stats-$name-$repeat-after.json"
			done
		done <<<"$workloads"
		sysctl -qw kernel.bpf_stats_enabled=0
	fi
	stop
	work none "$pass"
done
uname -r >out/release
