#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with systemd as process 1, that the unit's agent does its work under the unit's own settings, with what each
# capability is for by leaving it out; and that systemd knows when it is ready, what it does, and when it is stuck.
set -Eeuo pipefail
cd /job
. ./systemd-lib.sh

[[ $(</proc/1/comm) == systemd && $(</proc/sys/kernel/dmesg_restrict) == 1 ]]

step "it is ready before sunrpc is there"
systemctl daemon-reload
[[ ! -e /sys/module/sunrpc ]]
systemctl start xidscope
wait_for 60 is ActiveState active
wait_for 60 is StatusText '*Source none, findings: 0, last write 20*Z'
[[ $(stat -c %a $output) == 644 ]]

step "it attaches when sunrpc is loaded, by a uevent, and counts NFS calls and an Xid"
nfs_server_start
for version in 3 4.2; do nfs_mount "$version" '' "/mnt/$version"; done
wait_for 60 source_is "$btf"
wait_for 60 all_attached
(($(said 'uevents') == 0))
use_nfs
cause_fault
for op in READ WRITE GETATTR; do (($(sum xidscope_rpc_op_calls_total 'server="127.0.0.1"' "op=\"$op\"") > 0)); done
(($(sum xidscope_gpu_xid_errors_total 'gpu="0000:c1:00.0"' 'xid="79"' 'severity="fatal"') == 1))
[[ $(sum xidscope_events_dropped_total) == 0 ]]
wait_for 60 is StatusText "*Source $btf, findings: [1-9]*, last write 20*Z"

step "it has given up what is not needed, and cannot get it back"
[[ $(status NoNewPrivs) == 1 && $(status Seccomp) == 2 ]]
[[ $(status CapPrm) == 000000c400280002 && $(status CapEff) == 000000c400280002 ]]
[[ $(status CapInh) == 0000000000000000 && $(status CapAmb) == 0000000000000000 ]]

step "a reload writes the file; a stop ends it in time and removes its files"
[[ -s /run/xidscope/health.json ]]
before=$(stat -c %i.%Y.%Z $output)
systemctl reload xidscope
wait_for 60 changed "$before"
wait_for 60 is ActiveState active
systemctl stop xidscope
is Result success
[[ ! -e $output && -d /run/xidscope && -z $(find /run/xidscope -type f) ]]

step "a stuck agent is found by the watchdog, and started again"
with watchdog WatchdogSec=10 RestartSec=1
sleep 25
is NRestarts 0
stuck=$(show MainPID)
kill -STOP "$stuck"
wait_for 60 is NRestarts 1
wait_for 60 is ActiveState active
[[ $(show MainPID) != "$stuck" ]]

step "an output that hangs is no reason for the watchdog; the process that writes has no other capability"
with hung WatchdogSec=10
writer=$(pgrep -x xidscope-writer)
[[ $(awk '/^CapPrm/ { print $2 }' "/proc/$writer/status") == 0000000000000002 ]]
kill -STOP "$writer"
wait_for 60 is StatusText '*the file is not written: *its file system does not answer'
sleep 20
is NRestarts 0
systemctl stop xidscope
is Result success
rm $output # as the process that would remove it was stopped

step "another folder by /etc/default/xidscope, and nothing else is writable"
echo 'XIDSCOPE_TEXTFILE=/srv/metrics/textfile' >>/etc/default/xidscope
with settings
wait_for 60 test -e /srv/metrics/textfile/xidscope.prom
[[ ! -e $output && $(stat -c %a /srv/metrics /srv/metrics/textfile) == 755$'\n'755 ]] # anybody may read it
mounts=$(</proc/"$(show MainPID)"/mountinfo)
grep -q ' /srv/metrics/textfile rw' <<<"$mounts"
if grep -E ' (/|/usr|/etc|/var) rw' <<<"$mounts"; then false; fi
rm /etc/default/xidscope

# ---- what each capability is for ----
row() { printf '%s\t%s\n' "$@" | tee -a out/capabilities.tsv; }

step "without CAP_DAC_OVERRIDE"
with no-dac-override 'CapabilityBoundingSet=~CAP_DAC_OVERRIDE'
(($(said "cannot write $output: Permission denied") == 1))
is ActiveState active # a failed write does not end it
wait_for 60 is StatusText '*the file is not written: Permission denied'
row CAP_DAC_OVERRIDE "no file is written in a directory of another user"

step "without CAP_SYSLOG"
with no-syslog 'CapabilityBoundingSet=~CAP_SYSLOG'
wait_for 60 all_attached
with no-syslog-no-sys-admin 'CapabilityBoundingSet=~CAP_SYSLOG CAP_SYS_ADMIN'
wait_for 60 test -e $output
[[ $(sum xidscope_hook_attached 'hook="kernel_log"') == 0 ]]
(($(said 'cannot read /dev/kmsg: Operation not permitted') == 1))
row CAP_SYSLOG "with CAP_SYS_ADMIN missing too, no kernel log"

step "without CAP_SYS_ADMIN"
with no-sys-admin 'CapabilityBoundingSet=~CAP_SYS_ADMIN'
paranoid=$(</proc/sys/kernel/perf_event_paranoid)
source_is tracepoints || { source_is mountstats && (($(said 'no better source than mountstats: this process may not open trace events') == 1)); }
row CAP_SYS_ADMIN "$(grep -o 'source="[a-z]*"} 1' $output), where kernel.perf_event_paranoid is $paranoid"
echo 2 >/proc/sys/kernel/perf_event_paranoid
with no-sys-admin-2 'CapabilityBoundingSet=~CAP_SYS_ADMIN'
wait_for 60 source_is tracepoints
wait_for 60 all_attached
use_nfs
refresh
(($(sum xidscope_rpc_op_calls_total 'op="READ"') > 0))
row CAP_SYS_ADMIN "the source is tracepoints instead of $btf, where kernel.perf_event_paranoid is 2"

step "without CAP_SYS_PTRACE"
# held: what events say of those who hold the GPU. An answer may come too late for its event on a slow machine.
held() {
	local _ event
	# What the driver has there of a GPU, in the unit's own proc.
	nsenter -t "$(show MainPID)" -m sh -c 'mount -t tmpfs gpus /proc/driver && mkdir -p /proc/driver/nvidia/gpus/0000:c1:00.0 &&
		printf "Device Minor: \t 0\n" >/proc/driver/nvidia/gpus/0000:c1:00.0/information'
	for _ in {1..20}; do
		while_watched print_fault ''
		event=$(tail -n 1 <(grep '"kind":"xid"' /var/lib/xidscope/events))
		[[ $event != *'"held_by":[]'* ]] || break
	done
	grep -o '"held_by":\[\].*"incident"' <<<"$event"
}
setpriv --reuid 65534 --regid 65534 --clear-groups sleep infinity &
other=$!
with all-capabilities
[[ $(held) == '"held_by":[],"incident"' ]]
with no-sys-ptrace 'CapabilityBoundingSet=~CAP_SYS_PTRACE'
[[ $(held) == '"held_by":[],"holders_unread":'[1-9]* ]]
row CAP_SYS_PTRACE "an event does not name other users' processes that hold the GPU"
kill $other

for capability in CAP_BPF CAP_PERFMON; do
	step "without CAP_SYS_ADMIN and $capability"
	with "no-$capability" "CapabilityBoundingSet=~CAP_SYS_ADMIN $capability"
	wait_for 60 source_is mountstats
	[[ $(sum xidscope_hook_attached 'hook="printk_console"') == 0 ]]
	row "$capability" "with CAP_SYS_ADMIN missing too, which contains it: no BPF programs, the source is mountstats"
	with "$capability-by-sys-admin" "CapabilityBoundingSet=~$capability"
	wait_for 60 source_is "$btf"
	wait_for 60 all_attached
done

step "CAP_SYS_RESOURCE is for a memory limit before 5.11 alone, which the unit removes"
with memory-limit LimitMEMLOCK=64K
if [[ $btf == btf ]]; then
	wait_for 60 source_is btf
	row CAP_SYS_RESOURCE "not in the unit: nothing fails, and the memory limit is not that of locked memory"
else
	wait_for 60 source_is mountstats
	row CAP_SYS_RESOURCE "not in the unit: without LimitMEMLOCK=infinity no BPF programs, the source is mountstats"
fi

step "a forbidden AF_NETLINK is reported once, and modules are looked for instead"
with no-netlink RestrictAddressFamilies= RestrictAddressFamilies=AF_UNIX
wait_for 60 source_is "$btf"
(($(said "uevents: Address family not supported by protocol; modules are looked for") == 1))
step "uninstalled, it leaves nothing"
sh deploy/uninstall.sh --state
[[ $(show LoadState) == not-found ]]
[[ -z $(find / -xdev -name '*xidscope*' ! -path '/job/*' ! -path '/proc/*' ! -path '/var/log/*' -print | tee out/left) ]]
step "done"
