#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the image does its work under the DaemonSet's settings and under the systemd unit's: it attaches, counts
# NFS calls and Xid errors, names servers as the node does, writes on SIGHUP what node_exporter then serves, and
# leaves nothing behind on SIGTERM.
set -Eeuo pipefail
# shellcheck source=/dev/null
. /vm/guest-lib.sh

step() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
bundle=''
# shellcheck disable=SC2317 # the trap calls it
failed() {
	((BASH_SUBSHELL == 0)) || return 0
	echo "FAILED at line ${BASH_LINENO[*]}: $1"
	[[ ! -s out/$bundle.log ]] || tail -n 20 "out/$bundle.log"
	[[ ! -e ${output:-} ]] || cp "$output" "out/$bundle-failed.prom"
}
trap 'failed "$BASH_COMMAND"' ERR
crun() { command crun --cgroup-manager=cgroupfs "$@"; }

# refresh: has the agent write its file, now.
refresh() {
	local before
	before=$(stat -c %i.%Y.%Z "$output")
	crun kill xidscope HUP
	wait_for 30 changed "$before"
}
changed() { [[ $(stat -c %i.%Y.%Z "$output") != "$1" ]]; }
running() { [[ $(crun state xidscope 2>/dev/null) == *'"status": "running"'* ]]; }

# sum METRIC [LABEL...]: the sum of its samples that have all these labels; fails if there are none.
sum() {
	awk -v metric="$1" -v labels="${*:2}" '
		BEGIN { n = split(labels, label, " ") }
		/^#/ || $1 !~ "^" metric "([{]|$)" { next }
		{ for (i = 1; i <= n; i++) if (!index($1, label[i])) next; total += $NF; found = 1 }
		END { print total + 0; exit !found }' "$output"
}
all_attached() {
	refresh
	[[ $(sum xidscope_hook_attached) == "$(grep -c '^xidscope_hook_attached{' "$output")" ]]
}

start_agent() { # of $bundle
	# shellcheck source=/dev/null
	. "$bundle/settings"
	# shellcheck disable=SC2154 # create, output and grace are among the settings
	install -d -o 65534 -g 65534 "${create[@]}" # it may belong to node_exporter's user
	crun run --bundle "$bundle" xidscope >"out/$bundle.log" 2>&1 &
	agent=$!
	wait_for 40 test -s "$output"
	running
	pid=$(crun state xidscope | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
}

use_nfs() {
	local version
	for version in 3 4.2; do
		dd if=/dev/zero of="/mnt/$version/file" bs=64k count=4 conv=fsync status=none
		echo 1 >/proc/sys/vm/drop_caches
		cat "/mnt/$version/file" >/dev/null
		stat "/mnt/$version/file" >/dev/null
	done
}

faults=0
check_agent() {
	step "$bundle: every hook is attached, once sunrpc is there"
	wait_for 30 all_attached
	(($(grep -c '^xidscope_hook_attached{' "$output") >= 7))

	step "$bundle: servers have the names that the node gives them"
	use_nfs
	refresh
	if grep -m3 'server="[^"]*@' "$output"; then false; fi

	step "$bundle: NFS calls and an Xid are counted"
	insmod /job/nvidia.ko
	sleep 1 # within which the agent watches it
	echo 'xid 0000:c1:00.0 79 gone	NVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, gone' | sed 's/\\t/\t/' >/proc/xidscope-driver
	sleep 3
	refresh
	rmmod nvidia
	cp "$output" "out/$bundle.prom"
	for op in READ WRITE GETATTR; do (($(sum xidscope_rpc_seconds_count 'server="127.0.0.1"' "op=\"$op\"") > 0)); done
	# The unit's agent continues from the state file of the DaemonSet's.
	faults=$((faults + 1))
	(($(sum xidscope_gpu_xid_errors_total 'gpu="0000:c1:00.0"' 'xid="79"' 'severity="fatal"') == faults))
	(($(sum xidscope_gpu_fault_reports_total 'path="both"') == faults))
	[[ $(sum xidscope_events_dropped_total) == 0 ]]

	step "$bundle: it shares the node's namespaces, its sunrpc and its kernel log"
	for namespace in net pid; do
		[[ $(readlink "/proc/$pid/ns/$namespace") == "$(readlink "/proc/1/ns/$namespace")" ]]
	done
	[[ -s /proc/$pid/root/sys/kernel/btf/sunrpc && -c /proc/$pid/root/dev/kmsg ]]

	step "$bundle: each SIGHUP writes the file, readable for all, into a directory without other files"
	refresh && refresh # within less than the interval
	[[ $(stat -c %a "$output") == 644 ]]
	[[ $(ls "$(dirname "$output")") == xidscope.prom ]]
}

stop_agent() {
	local status=0 cgroup memory
	cgroup=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
	memory=$(cat "$cgroup/memory.max" "$cgroup/memory.current" "$cgroup/memory.peak" 2>/dev/null | paste -sd' ')
	step "$bundle: SIGTERM ends it with 0 and removes the file (memory limit, now, peak: $memory)"
	crun kill xidscope TERM
	# shellcheck disable=SC2154
	wait_for "$grace" ended
	wait "$agent" || status=$?
	((status == 0))
	[[ -z $(ls -A "$(dirname "$output")") ]]
}
ended() { ! running; }

step "the DaemonSet's agent is there before sunrpc"
[[ ! -e /sys/module/sunrpc ]]
bundle=daemonset
start_agent
nfs_server_start
for version in 3 4.2; do nfs_mount "$version" '' "/mnt/$version"; done
use_nfs
check_agent
# The DaemonSet sets --log json: each line is JSON.
if grep -v '^{"time":.*}$' "out/$bundle.log"; then false; fi

step "node_exporter, as nobody, serves the file"
setpriv --reuid=65534 --regid=65534 --clear-groups prometheus-node-exporter --collector.disable-defaults \
	--collector.textfile --collector.textfile.directory="$(dirname "$output")" \
	--web.listen-address=127.0.0.1:9100 2>out/node_exporter.log &
exporter=$!
wait_for 20 curl -sf -o out/served http://127.0.0.1:9100/metrics
kill "$exporter"
grep -q "^node_textfile_scrape_error 0$" out/served
grep "^node_textfile_mtime_seconds" out/served
grep -q '^xidscope_gpu_xid_errors_total{.*xid="79"' out/served
grep -q '^# TYPE xidscope_rpc_seconds histogram' out/served
stop_agent

step "the unit's agent starts when NFS is in use"
bundle=unit
start_agent
check_agent
stop_agent
step "done"
