#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the image does its work under the DaemonSet's settings, and under those of its least-privilege variant: it
# attaches, counts NFS calls and Xid errors, names servers as the node does, writes on SIGHUP what node_exporter then
# serves, and leaves nothing behind on SIGTERM; that the liveness probe fails for a stuck agent alone; what two
# capabilities of the variant are for, by leaving them out (the others: tests/vm/systemd); and that
# node-problem-detector's plugin answers under its own settings.
set -Eeuo pipefail
cd /job
. ./container-lib.sh

faults=0
check_agent() {
	step "$name: every hook is attached, once sunrpc is there"
	wait_for 60 all_hooks
	(($(grep -c '^xidscope_hook_attached{' "$output") >= 7))

	step "$name: servers have the names that the node gives them"
	use_nfs
	refresh
	if grep -m3 'server="[^"]*@' "$output"; then false; fi

	step "$name: NFS calls and an Xid are counted"
	cause_fault
	cp "$output" "out/$name.prom"
	for op in READ WRITE GETATTR; do (($(sum xidscope_rpc_op_calls_total "$server" "op=\"$op\"") > 0)); done
	# The second agent continues from the state file of the first.
	faults=$((faults + 1))
	(($(sum xidscope_gpu_xid_errors_total 'gpu="0000:c1:00.0"' 'xid="79"' 'severity="fatal"') == faults))
	[[ $(sum xidscope_events_dropped_total) == 0 ]]

	step "$name: check and trace answer from within, as by kubectl exec"
	eval "$(sed -n 1p exec)" >"out/$name.check" || (($? == 2))
	grep -q "GPU 0000:c1:00.0: Xid 79 " "out/$name.check"
	eval "$(sed -n 2p exec)" >"out/$name.trace" &
	local tracing=$!
	while kill -0 $tracing 2>/dev/null; do use_nfs; done
	wait $tracing
	grep -qF "$(cut -d'"' -f2 <<<"$server")" "out/$name.trace"

	step "$name: it shares the node's namespaces and its sunrpc"
	for namespace in net pid; do
		[[ $(readlink "/proc/$pid/ns/$namespace") == "$(readlink "/proc/1/ns/$namespace")" ]]
	done
	[[ $(uname -r) == 5.10.* || -s /proc/$pid/root/sys/kernel/btf/sunrpc ]]

	step "$name: each SIGHUP writes the file, readable for all, into a directory without other files"
	refresh && refresh # within less than the interval
	[[ $(stat -c %a "$output") == 644 ]]
	[[ $(ls "$(dirname "$output")") == xidscope.prom ]]

	step "$name: it has no capability that is not needed any longer"
	[[ $(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status") == 1 ]]
	# SYS_PTRACE, where the container had it: events name who holds a GPU.
	capabilities=000000c400280002
	[[ $name != least ]] || capabilities=000000c400200002
	[[ $(awk '/^CapPrm/ { print $2 }' "/proc/$pid/status") == "$capabilities" ]]
}
# In the variant the kernel log is missing.
all_hooks() {
	[[ $name == least ]] || { all_attached && return; }
	refresh
	[[ $(sum xidscope_hook_attached) == $(($(grep -c '^xidscope_hook_attached{' "$output") - 1)) ]]
}

# The node has a fault by now, and the disk is full.
check_probe() {
	local folder
	folder=$(dirname "$output")
	step "$name: the liveness probe fails for a stuck agent alone"
	# shellcheck disable=SC2154
	[[ ${probe[*]} == *'--max-age 2m' ]]
	probe[-1]=18s
	wait_for 60 crun exec xidscope "${probe[@]}"
	dd if=/dev/zero of="$folder/full" bs=64k status=none 2>/dev/null || true
	sleep 20
	(($(said 'No space left on device') == 1))
	crun exec xidscope "${probe[@]}"
	rm "$folder/full"
	kill -STOP "$pid"
	sleep 20
	if crun exec xidscope "${probe[@]}"; then false; fi
	kill -CONT "$pid"
	wait_for 60 crun exec xidscope "${probe[@]}"
	wait_for 60 refresh
}

step "the DaemonSet's agent is there before sunrpc"
[[ ! -e /sys/module/sunrpc ]]
btf=tracepoints
[[ $(uname -r) == 5.10.* ]] || btf=btf
server='server="127.0.0.1"'
name=privileged
start_agent
nfs_server_start
for version in 3 4.2; do nfs_mount "$version" '' "/mnt/$version"; done
use_nfs
check_agent
[[ -c /proc/$pid/root/dev/kmsg ]]
# The DaemonSet sets --log json: each line is JSON.
if grep -v '^{"time":.*}$' "out/$name.log"; then false; fi

step "node_exporter, as nobody, serves the file"
setpriv --reuid=65534 --regid=65534 --clear-groups prometheus-node-exporter --collector.disable-defaults \
	--collector.textfile --collector.textfile.directory="$(dirname "$output")" \
	--web.listen-address=127.0.0.1:9100 2>out/node_exporter.log &
exporter=$!
wait_for 60 curl -sf -o out/served http://127.0.0.1:9100/metrics
kill "$exporter"
grep -q "^node_textfile_scrape_error 0$" out/served
grep "^node_textfile_mtime_seconds" out/served
grep -q '^xidscope_gpu_xid_errors_total{.*xid="79"' out/served
grep -q '^# TYPE xidscope_rpc_seconds histogram' out/served

step "node-problem-detector's plugin, under its DaemonSet's settings, finds the fault"
status=0
(. npd/settings && mkdir -p "${create[@]}")
command crun --cgroup-manager=cgroupfs run --bundle npd npd >out/npd || status=$?
((status == 1))
grep -q '^GPU 0000:c1:00.0: Xid 79 ' out/npd
check_probe
stop_agent

step "the variant's agent starts when NFS is in use"
name=least
start_agent
# Without debugfs, the source tracepoints cannot name the servers of clients that were there before it.
[[ $btf == btf ]] || server='server="client:'
check_agent
check_probe
stop_agent

# ---- what the variant lacks, and what each capability is for ----
# variant BUNDLE: starts an agent with a bundle that differs from the variant's.
variant() {
	name=$1
	step "$name"
	start_agent
	use_nfs
	refresh
}
row() { printf '%s\t%s\n' "$@" | tee -a out/capabilities.tsv; }

# As a volume it is there, but may not be opened.
variant kmsg-mounted
[[ -c /proc/$pid/root/dev/kmsg && $(sum xidscope_hook_attached 'hook="kernel_log"') == 0 ]]
(($(said 'cannot read /dev/kmsg: Operation not permitted') == 1))
stop_agent
variant kmsg-allowed
[[ $(sum xidscope_hook_attached 'hook="kernel_log"') == 1 ]]
stop_agent

# Debian's default seccomp profile allows bpf() with CAP_SYS_ADMIN alone.
variant no-SYS_ADMIN
source_is mountstats
row CAP_SYS_ADMIN "the default seccomp profile may forbid bpf(): the source is mountstats"
stop_agent
variant no-SYS_RESOURCE
source_is "$btf" || [[ $btf == tracepoints ]]
if [[ $btf == tracepoints ]]; then
	source_is mountstats
	row CAP_SYS_RESOURCE "before Linux 5.11: no BPF programs, the source is mountstats"
fi
stop_agent

step "only fault counts are left on the node, until they are removed"
left() { find / -xdev -name '*xidscope*' ! -path '/job/*' ! -path '/proc/*' ! -path '/sys/*'; }
[[ $(left | sort | xargs) == '/etc/xidscope /var/lib/xidscope' ]]
bash -e uninstall
[[ -z $(left) ]]
step "done"
