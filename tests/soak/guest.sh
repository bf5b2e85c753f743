#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's part of `make soak` (it becomes the job's run.sh): an agent writes its file every 0.1 s while calls are
# made on two mounts that stay (NFSv3; v4.2 in a network namespace) and other servers' exports are mounted and unmounted,
# all at once, until there was enough of each. A fault a second is printed, each version of the file is held against the one
# before it, and a copy is kept each minute. verdict.py compares what is left here.
set -u
cd /job || exit
. /vm/guest-lib.sh
seconds=0 limit=0 calls=0 mounts=0 threads=''
. ./settings
mkdir -p out
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
nfs_server_start 4 >/dev/null
server=$(netns_client stays 10.0.9)
mountd=$(rpcinfo -p | awk '$5 == "mountd" && $3 == "tcp" { print $4; exit }')

objects() { for what in map prog link; do bpftool "$what" list | grep -c '^[0-9]*:'; done | paste -sd ' '; }
value() { sed -n "s/^xidscope_$1 //p" /tmp/faults/files/x.prom; }
processes() { pgrep -x 'xidscope.*' | sed 's,^,/proc/,' | paste -sd ' '; }
# What must not grow: of the agent and its writer, and of the kernel on their behalf. bpftool takes seconds: see whole().
state() {
	local pids resident
	read -ra pids < <(processes)
	resident=$(awk '/^VmRSS/ { sum += $2 } END { print sum }' "${pids[@]/%//status}")
	echo "resident_kb $resident agent_bytes $(value 'memory_bytes{kind="resident"}') map_bytes $(value 'memory_bytes{kind="maps"}')" \
		"processes ${#pids[@]} samples $(grep -c '^[^#]' /tmp/faults/files/x.prom)" \
		"cpu_ticks $(awk '{ print $14 + $15 }' "/proc/$(pgrep -ox xidscope)/stat") slab_kb $(awk '/^Slab/ { print $2 }' /proc/meminfo)"
}
whole() { echo "$(state) objects $(objects) transports $(bpftool -j map dump name xprts | grep -o '"formatted"' | wc -l)"; }
made() { awk -v what="$1" '$1 == what { n = $2 } END { print n + 0 }' "$1.made"; }
# point NAME: the agent's file and mountstats of one moment.
point() {
	local before
	for _ in {1..20}; do
		before=$(grep -v '^\s*\(age\|xprt\):' /proc/self/mountstats)
		sleep 3
		cat /tmp/faults/files/x.prom >"out/$1.prom" # cp refuses a file that is replaced meanwhile
		cat /proc/self/mountstats >"out/$1.mountstats"
		[[ $before != "$(grep -v '^\s*\(age\|xprt\):' /proc/self/mountstats)" ]] || return 0
	done
	echo "the client did not come to rest"
}

touch /tmp/agent.busy
python3 faults.py watched "$seconds" /job/xidscope >out/agent 2>&1 &
agent=$!
wait_for 60 grep -q 'attached to sunrpc' /tmp/faults/log
nfs_mount 3 nolock /mnt/three || exit 1
# Of another name: two clients of one name would end each other's sessions.
mkdir -p /mnt/four
in_netns stays unshare -u sh -c "hostname stays && mount -t nfs -o vers=4.2 $server:/ /mnt/four" || exit 1
sleep 5
point begin
mkdir -p /mnt/goes
./nfs_load mounts /mnt/goes "$mountd" 127.0.0.{2,3} >mounts.made 2>&1 &
mounting=$!
# shellcheck disable=SC2086 # as many threads
./nfs_load calls $threads >calls.made 2>&1 &
calling=$!
begin=$SECONDS minute=0
# From then on all is warm: each server was mounted by each version.
warm=$((seconds / 6 < 300 ? seconds / 6 : 300)) early=''
while passed=$((SECONDS - begin)) && ((passed < limit)); do
	if ((passed >= seconds)); then # what is still missing goes faster without the other
		enough=0
		((calls > $(made calls))) || { kill -TERM "$calling" 2>/dev/null; enough=$((enough + 1)); }
		((mounts > $(made mounts))) || { kill -TERM "$mounting" 2>/dev/null; enough=$((enough + 1)); }
		((enough < 2)) || break
	fi
	[[ $early ]] || ((passed < warm || $(made mounts) < 24)) || early=$(whole)
	if ((passed / 60 > minute)); then
		minute=$((passed / 60))
		echo "$passed s: $(tail -qn 1 ./*.made | paste -sd ' ') $(state)" | tee -a out/minutes
		cat /tmp/faults/files/x.prom >"out/minute-$minute.prom"
	fi
	sleep 5
done
kill -TERM "$mounting" "$calling" 2>/dev/null
wait "$mounting" "$calling"
passed=$((SECONDS - begin))
point end
sleep 20 # transports of mounts that are gone
late=$(whole)
rm /tmp/agent.busy
status=0
wait "$agent" || status=1
cp /tmp/faults/log out/agent.log
cp /tmp/faults/last.prom out/last.prom
cp ./*.made out/
printf '%s\n' "passed $passed" "early $early" "late $late" "agent $status" >out/figures
cat out/agent out/figures
tail -qn 1 ./*.made
exit "$status"
