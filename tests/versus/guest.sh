#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make versus` (it becomes the job's run.sh): all tools watch at once while one fault after the other
# comes and goes. Leaves marks.tsv (fault, calm | fault | end | over, seconds since the epoch), what each tool printed
# (TOOL.lines, with times), what it answered every 5 s (TOOL/TIME), and TOOL.failed where it does not run.
set -euo pipefail
. /vm/guest-lib.sh
# shellcheck source=tests/vm/agent-lib.sh
. /job/agent-lib.sh
mount -t tmpfs tmpfs /job/out
cd /job/out
export BPFTRACE_STRLEN=32 PYTHONUNBUFFERED=1
# Where the bcc ones look for headers.
release=$(uname -r)
mkdir /tmp/headers
ln -s "/usr/src/linux-headers-$release" /tmp/headers/build
ln -s "/usr/src/linux-headers-${release%-*-*}-common" /tmp/headers/source
modprobe overlay
mount -t overlay -o "lowerdir=/tmp/headers:/lib/modules/$release" headers "/lib/modules/$release"
calm=30

# streams NAME PROGRAM COMMAND: a tool that prints lines as they come, its program and the command that runs it.
streams='nfsiostat nfsiostat nfsiostat 5
nfsslower-bpfcc nfsslower-bpfcc nfsslower-bpfcc
nfsdist-bpfcc nfsdist-bpfcc nfsdist-bpfcc 5
nfsslower-libbpf nfsslower stdbuf -oL nfsslower
nfsdist-libbpf nfsdist stdbuf -oL nfsdist 5
bpftrace bpftrace bpftrace -B line /job/rpc.bt
dmesg dmesg dmesg -w | grep --line-buffered -iE "nvrm|xid|nfs: server|blocked for more than|out of memory"
xidscope /job/xidscope tail -n +1 -F events.json'
# What is asked every 5 s.
ask_node_exporter() { curl -sf -m 10 http://127.0.0.1:9100/metrics; }
ask_pcp() { pminfo -f nfsclient.ops.read nfsclient.ops.write nfsclient.xprt kernel.all.pressure kernel.all.load; }
ask_xidscope() { cat x.prom; }

# TOOLS of the host: these alone.
absent() {
	[[ ! -s /job/tools ]] || grep -qxF "$1" /job/tools || { echo "left out" >"$1.failed" && return; }
	! type -P "$2" >/dev/null && echo "$2: not found" >"$1.failed"
}
stamp() { perl -ne 'BEGIN { $| = 1 } print time, " $_"'; }
# A tool that ends is started again, as its user would: nfsiostat of Debian 12 ends when there is a new mount.
stream() {
	local begin
	while begin=$SECONDS; do
		sh -c "$2" 2>"$1.errors" || true
		((SECONDS - begin > 10)) || break
	done | stamp >"$1.lines"
	tail -n 1 "$1.errors" | cut -c 1-200 >"$1.failed"
}
ask() {
	mkdir -p "$1"
	while :; do
		"ask_${1/-/_}" >asked."$1" 2>"$1.errors" && mv asked."$1" "$1/$(date +%s)"
		sleep 5
	done
}
# Each is a process group, to be ended with all that it has begun.
start_tools() {
	local name program command
	set -m
	if ! absent node-exporter prometheus-node-exporter; then
		prometheus-node-exporter --web.listen-address=127.0.0.1:9100 --collector.disable-defaults \
			--collector.{mountstats,nfs,netstat,pressure,cpu,loadavg,stat,filesystem} >/dev/null 2>&1 &
		ask node-exporter &
		tools+=($!)
	fi
	if ! absent pcp pminfo; then
		/etc/init.d/pmcd start >pmcd.log 2>&1 || true
		(cd /var/lib/pcp/pmdas/nfsclient && ./Install </dev/null) >>pmcd.log 2>&1 || true
		ask pcp &
		tools+=($!)
	fi
	agent_start --interval 5 --events events.json --state state
	ask xidscope &
	tools+=($!)
	while read -r name program command; do
		absent "$name" "$program" && continue
		stream "$name" "$command" &
		tools+=($!)
	done <<<"$streams"
	set +m
}

mark() { printf '%s\t%s\t%s\n' "$fault" "$1" "$EPOCHREALTIME" >>marks.tsv; }
# work RW BLOCK JOBS IOPS: synchronous I/O in the background, so many a second of each job, at random times (what looks now and
# then, as the kernel's load does, would see all of them or none); 0: as many as there can be.
work() {
	fio --name="$fault" --filename="/mnt/$fault/load" --size=16m --rw="$1" --bs="$2" --numjobs="$3" --rate_iops="$4" \
		--rate_process=poisson --thread --direct=1 --ioengine=psync --time_based --runtime=900 --eta=never --output=/dev/null &
	workers+=($!)
}
# client SUBNET VERSION DELAY: a mount of a server that is so far away.
client() {
	server=$(netns_client "$fault" "$1")
	tc -n "$fault" qdisc add dev eth0 root netem delay "$3"
	NETNS=$fault nfs_mount "$2" '' "/mnt/$fault" "$server"
	prepare_file "/mnt/$fault"
}
# Without a rate, tc leaves the one there.
delay() { tc -n "$fault" qdisc change dev eth0 root netem delay 5ms rate 0bit "${@}"; }
more_end() { kill -KILL "${workers[-1]}" && unset 'workers[-1]'; }

# Of each fault: what is there before, how it begins, and how it ends.
# Nothing is read from the disk afterwards: a clock of instructions goes on while the guest waits for one.
warm_up() {
	local fault=warm workers=()
	client 10.0.19 4.2 5ms
	work randread 4k 1 5
	sleep 5
	kill -KILL "${workers[0]}"
	wait "${workers[0]}" || true
	wait_for 10 umount /mnt/warm
}
nothing_before() { client 10.0.20 3 5ms && work randread 4k 2 5; }
nothing_begin() { :; }
nothing_end() { :; }

slot_before() { slot_limit 2 && client 10.0.21 3 8ms && work randread 4k 1 10; }
slot_begin() { work randread 4k 12 0; }
slot_end() { more_end; }

session_before() { session_limit 2 && client 10.0.22 4.2 8ms && work randread 4k 1 10; }
session_begin() { work randread 4k 12 0; }
session_end() { more_end; }

slow_before() { client 10.0.23 3 5ms && work randread 4k 4 3; }
slow_begin() { delay delay 100ms; }
slow_end() { delay; }

stall_before() { client 10.0.24 3 5ms && work randread 4k 4 3; }
stall_begin() { delay loss 100%; }
stall_end() { delay; }

loss_before() { client 10.0.25 3 5ms && work randread 64k 4 5 && tc qdisc add dev veth-loss root netem delay 1ms; }
loss_begin() { tc qdisc change dev veth-loss root netem delay 1ms loss 4%; }
loss_end() { tc qdisc change dev veth-loss root netem delay 1ms; }

rate_before() { client 10.0.26 3 5ms && work randwrite 256k 4 2; }
rate_begin() { delay rate 8mbit; }
rate_end() { delay; }

usual_server() {
	nfs_server_stop
	! mountpoint -q /export || wait_for 10 umount /export
	nfs_server_start 8
}
serial_before() {
	local disk
	defer usual_server
	disk=$(slow_disk 4) # while the server is there: mke2fs looks at each mount
	nfs_server_stop
	wait_for 10 umount /export
	mount "$disk" /export
	nfs_server_start 1
	nfs_mount 3 '' /mnt/serial 127.0.0.3
	prepare_file /mnt/serial
	work randwrite 4k 1 10
}
# More than the server can do, but no more work for the guest.
serial_begin() { work randwrite 4k 12 40; }
serial_end() { more_end; }

cpu_before() { client 10.0.27 3 5ms && work randread 4k 4 3; }
cpu_begin() {
	local i
	for i in {1..6}; do
		nice -n -10 sh -c 'while :; do :; done' &
		hogs+=($!)
	done
}
cpu_end() { kill "${hogs[@]}"; }

drift_before() { client 10.0.28 3 5ms && work read 64k 1 20; }
drift_begin() {
	local worker=${workers[-1]}
	more_end
	wait "$worker" || true
	wait_for 10 umount /mnt/drift
	NETNS=drift nfs_mount 3 rsize=4096,wsize=4096 /mnt/drift "$server"
	work read 64k 1 20
}
drift_end() { :; }

readahead_kb() { echo "$1" >"/sys/class/bdi/$(mountpoint -d /mnt/readahead)/read_ahead_kb"; }
readahead_before() {
	client 10.0.31 3 8ms && readahead_kb 4096
	# A read larger than the readahead is sent at once, all of it.
	while dd if=/mnt/readahead/load of=/dev/null bs=16k count=256 status=none; do
		dd if=/mnt/readahead/load iflag=nocache count=0 status=none # is dropped
		sleep 0.1
	done &
	workers+=($!)
}
readahead_begin() { readahead_kb 64; }
readahead_end() { readahead_kb 4096; }

stuck_before() { client 10.0.29 3 5ms && work randread 4k 2 5 && : >/mnt/stuck/locked; }
stuck_begin() {
	echo 'hang 250 /mnt/stuck/locked' >/proc/xidscope-driver &
	sleep 1
	dd if=/dev/zero of=/mnt/stuck/locked bs=4k count=1 conv=notrunc status=none &
}
stuck_end() { :; }

dead_before() { client 10.0.30 3 5ms && work randread 4k 4 3; }
dead_begin() { defer nfs_server_start 8 && nfs_server_stop; }
dead_end() { :; }

xid_before() { driver "raw $(xid 3b)"; }
xid_begin() { driver "raw $(xid 3b)"; }
xid_end() { :; }

load_before() { :; }
load_begin() { module_remove nvidia && insmod /job/modules/text/nvidia.ko && driver "raw $(xid 4b)"; }
load_end() { :; }

forged_before() { set_value /proc/sys/kernel/printk_devkmsg on; }
forged_begin() { echo "<3>$(xid 7b)" >/dev/kmsg; }
forged_end() { :; }

nfs_server_start 8
modprobe -a nfs nfsv3 nfsv4
nfs_mount 3 '' /mnt/first # so that all that the tools attach to is there
driver_load text
driver "raw $(xid c1)"
warm_up
fault=early
mark fault
start_tools
echo "started after $SECONDS s"
# The bcc ones compile their programs first.
quiet_since() { before=$(bpftool prog show | wc -l) && sleep 20 && (($(bpftool prog show | wc -l) == before)); }
wait_for 600 quiet_since
echo "attached after $SECONDS s"
sleep 20
mark end
mark over
while read -r fault length; do
	workers=() hogs=()
	: >"${deferred=/job/deferred}"
	"${fault}_before" || echo "$fault: cannot be made"
	sleep 10
	mark calm
	sleep $calm
	mark fault
	"${fault}_begin" || echo "$fault: does not begin"
	sleep "$length"
	mark end
	"${fault}_end" || echo "$fault: does not end"
	sleep 30
	mark over
	for worker in "${workers[@]}"; do
		kill -KILL "$worker" || true
		wait "$worker" || true
	done
	clean_up || echo "$fault: leaves something"
	echo "$fault: done after $SECONDS s"
done </job/faults

# What they take, with eight mounts of 16 connections each: resident bytes, series, milliseconds for an answer.
# cost NAME PATTERN [SERIES [MS]]: of the processes whose command line fits.
cost() {
	local resident
	resident=$(for pid in $(pgrep -f "$2"); do cat "/proc/$pid/status" 2>/dev/null; done | awk '/^VmRSS/ { n += $2 } END { print n * 1024 }')
	printf '%s\t%s\t%s\t%s\n' "$1" "$resident" "${3:--}" "${4:--}" >>cost.tsv
}
for i in {1..8}; do
	nfs_mount 3 nconnect=16 "/mnt/many$i" "127.0.1.$i"
	ls "/mnt/many$i" >/dev/null
done
sleep 30
while read -r name program _; do cost "$name" "(^| )$program( |$)"; done < <(grep -vE '^(xidscope|dmesg) ' <<<"$streams")
cost dmesg 'dmesg -w'
cost xidscope '^/job/xidscope run' "$(grep -c ^xidscope x.prom)"
if [[ -d node-exporter ]]; then
	seconds=$(curl -s -o page -w '%{time_total}' http://127.0.0.1:9100/metrics)
	cost node-exporter prometheus-node-exporter "$(grep -c ^node_ page)" "$(awk -v s="$seconds" 'BEGIN { print int(s * 1000) }')"
fi
[[ ! -d pcp ]] || cost pcp 'pmcd|pmda' "$(pminfo -f nfsclient 2>/dev/null | grep -c value)"
dmesg >dmesg.txt
uname -r >release
# What they write is read now.
agent_stop
kill -- "${tools[@]/#/-}"
wait "${tools[@]}" || true
