#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make growth` (it becomes the job's run.sh): what a call costs, and a write of the file, as
# servers, transports, ops and waiting tasks grow. A line in out/growth.tsv for each step, and the run statistics of the
# agent's programs before and after it; a line in out/detail.tsv for each file with --detail op.
set -euo pipefail
. /vm/guest-lib.sh
cd /job
. ./agent-lib.sh
. ./ops.sh
trap 'echo "FAILED at line $LINENO: $BASH_COMMAND"' ERR

nfs_server_start 1 # one thread: with more, who wakes whom when makes single runs differ by 1 %
dd if=/dev/zero of=/export/load bs=1M count=16 status=none
sysctl -qw kernel.bpf_stats_enabled=1

value() { sed -n "s/^xidscope_$1 //p" x.prom; }
calls() { sed -n 's/^xidscope_rpc_op_calls_total{.* //p' x.prom | awk '{ n += $1 } END { print n + 0 }'; }
mounts() { seq -f '/mnt/s%g' "$1"; }

fresh_agent() { # fresh_agent [OPTION...]
	rm -f agent.log x.prom
	agent_start "$@"
}
# What the file costs, in figures that both tables end with.
file_figures() {
	agent_write
	agent_write # its export_seconds is that of the write before
	printf '%s\t%s\t%s\n' "$(value export_seconds)" "$(stat -c %s x.prom)" "$(grep -c '^xidscope' x.prom)"
}

# step NAME COMMAND...: what the command's calls cost, three times, and how large the file is after it.
step() {
	local name=$1 before repeat
	for repeat in 1 2 3; do
		agent_write
		before=$(calls)
		bpftool -j prog show >"out/$name-$repeat-before.json"
		"${@:2}"
		bpftool -j prog show >"out/$name-$repeat-after.json"
		agent_write
		printf '%s\t%s\t%s\t%s\n' "$name" "$repeat" $(($(calls) - before)) "$(file_figures)" >>out/growth.tsv
		cp x.prom "out/$name-$repeat.prom"
	done
}

# read_all N DEPTH COUNT: COUNT reads on each of N mounts in turn.
read_all() {
	local dir
	for dir in $(mounts "$1"); do ./load "$dir/load" read "$2" "$3" 1 >/dev/null; done
}

# grow NAME SERVERS NCONNECT READS: a fresh agent, mounts, reads; then all ops on each, and the reads again.
grow() {
	local name=$1 servers=$2 nconnect=$3 reads=$4 i
	fresh_agent --detail node
	for i in $(seq "$servers"); do nfs_mount 3 "nconnect=$nconnect" "/mnt/s$i" "127.0.1.$i"; done
	read_all "$servers" 1 32 # each transport has been met
	step "$name" read_all "$servers" 1 "$reads"
	for i in $(seq "$servers"); do ops "/mnt/s$i"; done
	step "$name-ops" read_all "$servers" 1 "$reads"
	agent_stop
	fresh_agent --detail op
	read_all "$servers" 1 32
	for i in $(seq "$servers"); do ops "/mnt/s$i"; done
	printf '%s\t%s\n' "$name" "$(file_figures)" >>out/detail.tsv
	cp x.prom "out/$name-detail.prom"
	for i in $(seq "$servers"); do umount "/mnt/s$i"; done
	agent_stop
}

grow 1-server 1 1 2000
grow 8-servers 8 1 250
grow 32-servers 32 1 250
grow 16-transports 1 16 2000
grow 128-transports 8 16 250

slot_limit 4
fresh_agent --detail node
nfs_mount 3 '' /mnt/s1 127.0.2.1
read_all 1 64 64
step 60-waiting read_all 1 64 2000
step 1000-waiting read_all 1 1004 2000
cp x.prom out/waiting.prom
agent_stop
uname -r >out/release
