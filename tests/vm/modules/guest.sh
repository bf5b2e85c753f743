#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the test drivers behave as NVIDIA's: the text is a record of the kernel's own, printed as a continuation;
# after it comes the structured call, by tracepoint, probed function or not at all; they can be exchanged under a tracer.
set -euo pipefail
trap 'echo "FAILED at line $LINENO: $BASH_COMMAND"' ERR
tracing=/sys/kernel/tracing/instances/selftest
driver=/proc/xidscope-driver
tab=$'\t'

load() { insmod "/job/$1/nvidia.ko"; }
send() { printf '%s\n' "$@" >$driver; }
# What was logged or traced since the last call, without what differs from run to run.
records() {
	timeout 1 cat <&3 >records || true
	sed -E 's/^([0-9]+),[0-9]+,[0-9]+,/\1,/' records
}
trace() {
	grep -v '^#' $tracing/trace | sed -E 's/.*[0-9]+\.[0-9]+: //; s/\(nv_report_error\+[^)]*\) //'
	: >$tracing/trace
}
expect() { # expect WHAT WANTED GOT
	[[ $2 == "$3" ]] && return
	echo "$1: not as wanted:"
	diff <(echo "$2") <(echo "$3") | head -n 20
	return 1
}

cd /tmp
exec 3</dev/kmsg
records >/dev/null
mkdir $tracing
echo 64 >$tracing/buffer_size_kb
# By the register, since $arg2 is accepted only if the function is there. Known now, it takes effect whenever it comes.
echo 'p:selftest/nv nvidia:nv_report_error number=%si:u32' >>/sys/kernel/tracing/kprobe_events
echo 1 >$tracing/events/selftest/nv/enable

xid="xid 0000:c1:00.0 79 GPU is lost${tab}NVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=a b\\\\c, GPU is lost"
xid_record='4,c;NVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=a b\x5cc, GPU is lost'

load tracepoint
echo 1 >$tracing/events/nvidia/nvidia_dev_xid/enable
echo 1 >$tracing/events/nvswitch/nvswitch_dev_sxid/enable
expect "message on loading" "3,-;NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build  (test@guest)" \
	"$(records | grep NVRM)"
send "$xid" 'xid 0000:c1:00.0 62 silent' 'raw NVRM: one\nNVRM: two' 'part usb 1-1: ' 'raw NVRM: glued' \
	"sxid 0000:c3:00.0 20034 Fatal, Link 48${tab}nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48" \
	"count 2 xid 0000:3b:00.0 31 turn %d${tab}NVRM: Xid (PCI:0000:3b:00): 31, turn %d"
expect "text" "$xid_record
4,c;NVRM: one\\x0aNVRM: two
6,-;usb 1-1: NVRM: glued
4,c;nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48
4,c;NVRM: Xid (PCI:0000:3b:00): 31, turn 0
4,c;NVRM: Xid (PCI:0000:3b:00): 31, turn 1" "$(records)"
expect "tracepoints" "nvidia_dev_xid: Xid (PCI:0000:c1:00.0): 79, GPU is lost
nvidia_dev_xid: Xid (PCI:0000:c1:00.0): 62, silent
nvswitch_dev_sxid: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48
nvidia_dev_xid: Xid (PCI:0000:3b:00.0): 31, turn 0
nvidia_dev_xid: Xid (PCI:0000:3b:00.0): 31, turn 1" "$(grep -v 'nv: (' $tracing/trace | grep -v '^#' | sed -E 's/.*[0-9]+\.[0-9]+: //')"
expect "probe of the tracepoints' driver" "nv: number=79
nv: number=62
nv: number=31
nv: number=31" "$(trace | grep '^nv:')"

for wrong in hello raw 'xid 0000:c1:00.0' 'xid 0000:c1:00.0 7x message' 'count x raw text' 'count 2'; do
	! send "$wrong" 2>/dev/null || { echo "accepted: $wrong" && false; }
done
printf 'raw a line in ' >part1 && printf 'two writes\n' >part2
{ cat part1 && sleep 0.1 && cat part2; } | cat >$driver
expect "a line in two writes" "4,c;a line in two writes" "$(records)"
for number in $(seq 500); do echo "raw line $number of a long write, which is more than one page"; done >long
cat long >$driver
expect "a long write" "$(sed 's/^raw /4,c;/' long)" "$(records)"

# An event that is traced does not hold the module.
rmmod nvidia
load function
records >/dev/null
send "$xid"
expect "text of the function's driver" "$xid_record" "$(records)"
expect "probe of the function's driver" "nv: number=79" "$(trace)"
[[ ! -e $tracing/events/nvidia ]]

rmmod nvidia
load text
records >/dev/null
send "$xid" 'xid 0000:c1:00.0 62 silent'
expect "text of the text's driver" "$xid_record" "$(records)"
expect "no call in the text's driver" '' "$(trace)"

# 100,000 lines at full speed: the last is there on both ways.
rmmod nvidia
load tracepoint
echo 1 >$tracing/events/nvidia/nvidia_dev_xid/enable
echo 0 >$tracing/events/selftest/nv/enable
begin=${EPOCHREALTIME/./}
send "count 100000 xid 0000:3b:00.0 31 turn %d${tab}NVRM: Xid (PCI:0000:3b:00): 31, turn %d"
echo "100,000 faults in $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
expect "last of the storm" "nvidia_dev_xid: Xid (PCI:0000:3b:00.0): 31, turn 99999" "$(trace | tail -n 1)"
expect "last of the storm's text" "NVRM: Xid (PCI:0000:3b:00): 31, turn 99999" "$(dmesg | tail -n 1 | sed 's/^\[[^]]*\] //')"
rmmod nvidia
