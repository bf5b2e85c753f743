#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that `xidscope check` gives the documented exit code and output in each state and style, by files as `xidscope
# run` writes them, and that `xidscope xid` explains each Xid. Needs no kernel and no root.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# json EXPRESSION ARGUMENT...: the program prints one JSON text, and Python's EXPRESSION about it (j) is true.
json() {
	local expression=$1
	shift
	"$program" "$@" >out
	/usr/bin/python3 -c 'import json, sys; j = json.load(sys.stdin); sys.exit(not eval(f"({sys.argv[1]})"))' "$expression" <out ||
		fail "'$*': $expression is not true of $(head -c 2000 out)"
}

gpu=0000:c1:00.0
now=$(date +%s)
old_xid=xid=79:fatal:restart_bm:2:2026-11-21T10:00:00Z
new_xids=("xid=62:warning:reset_gpu:1:$now" "xid=48:fatal:workflow_xid_48:1:$now")
none=(--ack none)
judge healthy "${none[@]}" -- 'waiter=1.5:nas|1'
judge warning "${none[@]}" -- "${new_xids[0]}" "xid=31:info:x:4:$now"
judge critical "${none[@]}" -- "$old_xid" "${new_xids[@]}"
judge waiting "${none[@]}" -- 'waiter=75:nas|1'
head -n 20 critical >torn
: >empty
read -r uptime _ </proc/uptime
sed -E "s/(\"monotonic_seconds\":)[0-9.]+/\1$(awk -v now="$uptime" 'BEGIN { print now - 200 }')/" healthy >old
sed 's/"boot":"[^"]*"/"boot":"another"/' healthy >rebooted
sed 's/xidscope health 1/xidscope health 2/' healthy >newer
performance='oldest_waiter=0.0s;60'

# ---- every state, in every style ----
expect 0 "XIDSCOPE OK: no open fault | xids=0 oldest_waiter=1.5s;60" "" check --health healthy
expect 1 "XIDSCOPE WARNING: GPU $gpu: Xid 62 (*) 1 time, last 20*Z. Drain the node and reset the GPU. | xids=5 $performance" "" \
	check --health warning
reason="GPU $gpu: Xid 79 (GPU no longer answers on the PCIe bus) 2 times, last 2026-11-21T10:00:00Z. Drain the node and \
restart it; if the error returns, replace the GPU."
expect 2 "XIDSCOPE CRITICAL: $reason (2 more) | xids=4 $performance"$'\n'"CRITICAL: GPU $gpu: Xid 48 *"$'\n'"WARNING: GPU \
$gpu: Xid 62 *" "" check --health critical
expect 1 "XIDSCOPE WARNING: NFS server nas/1: a call has been waiting for its reply for 75 s. * | xids=0 \
oldest_waiter=75.0s;60" "" check --health waiting
expect 0 "" "" check --style slurm --health healthy
# a prolog that runs it fails for a failure alone
expect 0 "Xid 62 c1:00.0 \[xidscope warn\] GPU $gpu: Xid 62 *" "" check --style slurm --health warning
expect 2 "Xid 79 c1:00.0 \[xidscope fail\] $reason (1 more)" "" check --style slurm --health critical
expect 0 "no open fault" "" check --style npd --health healthy
expect 0 "GPU $gpu: Xid 62 (*) 1 time, last 20*Z. *" "" check --style npd --health warning
expect 1 "$reason" "" check --style npd --health critical

expect 0 "STATE *open *2026-11-21 10:00:00 +0000*  Xid 79 *$gpu*fatal, 2 reports: *" "" faults --health critical
expect 0 "No fault since boot." "" faults --health healthy

unknown() { # PATTERN ARGUMENT...
	local why=$1
	shift
	expect 3 "XIDSCOPE UNKNOWN: $why" "" check "$@"
	expect 0 "" "xidscope: $why" check --style slurm "$@"
	"$program" check --style npd "$@" >out
	(($? == 2)) || fail "npd: '$*' is not unknown"
	(($(wc -l <out) == 1 && $(wc -c <out) <= 640)) || fail "npd: '$*' prints '$(<out)'"
	expect "${listed:-3}" ${listed:+"STATE *"}"" "xidscope: $why" faults "$@"
	json "j['health'] == 'unknown' and j['exit_code'] == 3 and j['trouble'] and not j['findings']" check --json "$@"
}
unknown "cannot read absent: No such file or directory: check that 'xidscope run' is running*" --health absent
unknown "cannot read $dir: it is not a regular file" --health "$dir"
ln -s healthy link
unknown "cannot read link: it is a symbolic link" --health link
rm link && ln healthy link
unknown "cannot read link: it has several hard links" --health link
rm link && cp healthy anybodys && chmod 666 anybodys
unknown "cannot read anybodys: it does not belong to root, or everybody may write it" --health anybodys
if ((EUID == 0)); then
	cp healthy users && chown 65534 users
	unknown "cannot read users: it does not belong to root, or everybody may write it" --health users
	chmod 644 healthy
	as_nobody check --health healthy >out || fail "nobody cannot read root's file: $(<out)"
fi
unknown "old is 2?? s old: *" --health old
unknown "cannot read rebooted: it is of another boot: *" --health rebooted
unknown "cannot read newer: it is no health file of this version of xidscope" --health newer
unknown "cannot read /etc/passwd: it is damaged, or no health file of xidscope" --health /etc/passwd
unknown "cannot read torn: it is damaged, *" --health torn
unknown "cannot read empty: it is damaged, *" --health empty
echo 'gpu0 79 1' >wrong_ack
judge unacknowledged --ack wrong_ack -- "$old_xid"
listed=0 unknown "the acknowledgements: wrong_ack: line 1: 'gpu0' is not a PCI address *" --health unacknowledged
expect 0 "*" "" check --health old --max-age 300
expect 0 "*" "" faults --health old --max-age 300

expect 3 "" "xidscope: unknown option '--bogus'; see xidscope check --help" check --bogus
expect 3 "" "xidscope: invalid --style 'x': use one of nagios, slurm, npd" check --style x

# ---- the agent's rules decide, and `check` can ignore some ----
printf '%s 79 2026-11-21T10:00:00Z seen\n* 48 %s\n* 62 %s\n' "$gpu" "$now" "$now" >acks
judge acknowledged --ack acks -- "$old_xid" "${new_xids[@]}"
expect 0 "XIDSCOPE OK: no open fault (3 acknowledged: Xid 79 c1:00.0) | xids=4 $performance" "" check --health acknowledged
json "j['findings'] == [] and [f['state'] for f in j['acknowledged']] == ['acknowledged'] * 3" check --json --health acknowledged
judge off --rule xid_fatal=off --rule xid_hardware=off --rule nfs_waiter=off "${none[@]}" -- "$old_xid" "${new_xids[@]}"
expect 0 "XIDSCOPE OK: * | xids=4 oldest_waiter=0.0s" "" check --health off
judge strict --rule nfs_waiter=fail:70 "${none[@]}" -- waiter=75:nas
expect 2 "XIDSCOPE CRITICAL: NFS server * oldest_waiter=75.0s;;70" "" check --health strict
expect 0 "XIDSCOPE OK: *" "" check --health strict --ignore nfs_waiter
expect 1 "XIDSCOPE WARNING: GPU $gpu: Xid 62 [^0-9]* time, last 20*Z. Drain the node and reset the GPU. | *" "" \
	check --health critical --ignore xid_fatal
expect 0 "XIDSCOPE OK: *" "" check --health critical --ignore xid_fatal,xid_hardware
json "j['health'] == 'warning' and j['exit_code'] == 1 and [f['xid'] for f in j['findings']] == [62] and j['left_out'] == 0
and j['drain_reason'].startswith('Xid 62 c1:00.0 [xidscope warn] ')" check --json --health critical --ignore xid_fatal
expect 3 "" "xidscope: invalid --ignore 'xid_fatl': no such rule; did you mean xid_fatal?" check --ignore xid_fatl

# ---- the node itself; a guest has mounts that hang ----
judge absent_mount --mount '/no/mount/x' "${none[@]}" --
expect 2 "XIDSCOPE CRITICAL: Mount /no/mount/x is not mounted. *" "" check --health absent_mount
judge mounts --mount /proc --mount /sys,ro "${none[@]}" --
expect 0 "*" "" check --health mounts
judge gpus --gpus 200 "${none[@]}" --
expect 2 "*The driver has 0 of 200 GPUs*" "" check --health gpus
expect 2 "" "xidscope: invalid --mount 'proc': use an absolute path*" run --mount proc

# ---- JSON ----
json "j['health'] == 'ok' and j['exit_code'] == 0 and j['findings'] == [] and j['left_out'] == 0" check --json --health healthy
json "j['health'] == 'critical' and j['exit_code'] == 2 and j['xids'] == 4 and j['age_seconds'] >= 0
and [f['rule'] for f in j['findings']] == ['xid_fatal', 'xid_fatal', 'xid_hardware']
and j['findings'][0]['level'] == 'fail' and j['findings'][0]['reason'].startswith('GPU ')" check --json --health critical
json "j['exit_code'] == 1" check --json --style npd --health critical
json "j['drain_reason'].startswith('Xid 79 c1:00.0 [xidscope fail] GPU ') and [(f['device'], f['xid'], f['level'], f['count'],
f['last'], f['action']) for f in j['findings']][0] == ('$gpu', 79, 'fail', 2, '2026-11-21T10:00:00Z', 'restart_bm')
and 'sxid' not in j['findings'][0] and 'first' not in j['findings'][0]" check --json --health critical
json "j['drain_reason'] == ''" check --json --health healthy
judge switch "${none[@]}" -- sxid=20034:fatal::3:2026-11-21T10:00:00Z,2026-11-21T09:58:20Z
json "[(f['sxid'], f['count'], f['first'], f['last'], f['action']) for f in j['findings']] ==
[(20034, 3, '2026-11-21T09:58:20Z', '2026-11-21T10:00:00Z', 'reset_gpu')]" check --json --health switch
expect 0 "xid_fatal	fail			An Xid of severity fatal.*xid_storm	warn	1000	reports	*" "" check --list-rules
expect 2 "CRITICAL: 1 finding*CRITICAL: NVSwitch $gpu: SXid 20034*rule *sxid_fatal*evidence *SXid 20034 c1:00.0, 3 times*began *2026-11-21 09:58:20 +0000\
*last *2026-11-21 10:00:00 +0000*ended by *xidscope ack $gpu sxid:20034" "" check --explain --health switch
expect 0 "OK: 0 findings" "" check --explain --health healthy
expect 2 "*Mount /no/mount/x is not mounted*evidence *the present state*began *not known*ended by *" "" check --explain --health absent_mount
expect 3 "UNKNOWN: cannot read torn: *" "" check --explain --health torn
json "'nas|1' in j['findings'][0]['reason']" check --json --health waiting

# ---- nasty names ----
judge nasty --rule nfs_waiter=fail "${none[@]}" -- $'waiter=75:a|b"\\\e[31m\xe2\x80\xae\n' sxid=20034:fatal::3:0
json "j['health'] == 'critical' and 'nfs_waiter' in [f['rule'] for f in j['findings']]" check --json --health nasty
"$program" check --health nasty >out
(($(grep -c '|' out) == 1 && $(wc -l <out) == 2)) || fail "a name brings its own bar or line: $(<out)"
! LC_ALL=C grep -q '[^ -~]' out || fail "a name brings control characters"

# ---- xidscope xid ----
expect 0 "Xid 79: GPU no longer answers*  severity  fatal*  action    restart_bm*  advice    Drain the node*" "" xid 79
expect 0 "*note      The text decides the severity*" "" xid 149
expect 0 "*mnemonic  ISINK_ZERO_LIFETIME*documented as PSHC_ZERO_LIFETIME*" "" xid 165
json "j['mnemonic'] == 'ISINK_ZERO_LIFETIME' and j['documented'] == 'PSHC_ZERO_LIFETIME' and j['source'].startswith('https:')" xid 165 --json
# a person's times are local, those of a monitoring system are not
TZ=CET-1 expect 2 "CRITICAL: *SXid 20034*, last 2026-11-21T10:00:00Z. *last *2026-11-21 11:00:00 +0100*" "" check --explain --health switch
TZ=CET-1 expect 2 "*SXid 20034*, last 2026-11-21T10:00:00Z. *" "" check --health switch
script -qc "stty cols 80; $program xid 149" /dev/null | tr -d '\r' >typed
! grep -E '^.{81}' typed || fail "xid is wider than a terminal"
grep -q '^            otherwise check' typed || fail "xid's advice is not below itself: $(<typed)"
expect 0 "*note      One that names a previous Xid*otherwise info.*source    https://docs.nvidia.com/*" "" xid 45
expect 0 "SXid 20034: *severity  fatal*action    reset_gpu*" "" xid sxid:20034
expect 1 "SXid 99: code not in the catalog*" "xidscope: SXid 99 is not in the catalog: *" xid sxid:99
json "j['sxid'] == 20034 and j['known'] and j['severity'] == 'fatal'" xid sxid:20034 --json
expect 1 "Xid 999: code not in the catalog*severity  unknown*" "xidscope: Xid 999 is not in the catalog: *" xid 999
expect 2 "" "xidscope: use either CODE or --list; see xidscope xid --help" xid
printf '79 info page_us\n149 fatal\n999 fatal\nsxid:20034 info\n' >policy
expect 0 "*severity  info*action    page_us*policy    The catalog has fatal, restart_bm.*" "" xid --xid-policy policy 79
expect 0 "*severity  fatal*policy*warning, workflow_nvlink5_err.*" "" xid --xid-policy policy 149
expect 1 "*severity  fatal*" "*not in the catalog*" xid --xid-policy policy 999
expect 1 "" "xidscope: error: cannot read the policy file absent: *" xid --xid-policy absent 79
echo 'x' >bad_policy
expect 1 "" "xidscope: error: the policy file bad_policy: line 1: 'x' is not an Xid number*" xid --xid-policy=bad_policy --list
expect 1 "" "xidscope: error: the policy file bad_policy: line 1: *" run --xid-policy=bad_policy --output "$dir/run.prom"
json "j['xid'] == 79 and j['known'] and not j['overridden'] and j['severity'] == 'fatal' and 'note' not in j" xid 79 --json
json "not j['known']" xid 999 --json 2>/dev/null
json "len(j) > 150 and all(e['known'] for e in j)" xid --list --json
json "j[-1]['xid'] == 999 and not j[-1]['known'] and [e for e in j if e.get('xid') == 79][0]['severity'] == 'info'" \
	xid --list --json --xid-policy policy
# health LEVEL LINES: what a log leads to
health() {
	local level
	level=$(printf %b "$2" | "$program" xid - 2>/dev/null | sed -n 's/^health: //p')
	[[ $level == "$1" ]] || fail "health of this log is $level, not $1: $2"
}
off='NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus.\n'
load='NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  595.45.04\n'
for times in 'Dec 31 23:00:00 n1 kernel: |Jan  1 00:10:00 n1 kernel: |Jan  4 11:00:00 n1 kernel: ' \
	'[90000.0] |[10.0] |[500.0] ' '<4>[ 34.5] |<4>[ 36.5] |<4>[ 37.5] ' '[Nov26 12:00] |[  +0.000001] |[  +0.000000] ' \
	'1764158400.1 n1 kernel: |1764158400.2 n1 kernel: |1764158400.2 n1 kernel: ' '||' \
	'Thu 2026-11-26 12:00:00 UTC n1 kernel: |Thu 2026-11-26 12:00:01 UTC n1 kernel: |Thu 2026-11-26 12:00:01 UTC n1 kernel: ' \
	'2026-11-26T12:00:00,5+00:00 |2026-11-26T12:00:00,5+00:00 |2026-11-26T12:00:00,5+00:00 ' \
	'[ 1.5] n1 kernel: |[ 1.6] n1 kernel: |[ 1.6] n1 kernel: ' '[  199.546814][   C40] |[10163.7] [   T9326] |[10163.8] '; do
	IFS='|' read -r first second third <<<"$times"
	health critical "$first$off$second$load$third$off"
	health ok "$first$off$second$load"
done
at='Nov 26 10:00:00 n1'
health critical "$at kernel: $off$at sshd[99]: Invalid user $load"
health '' "$at python[12]: $off$at sshd[99]: Invalid user  kernel: $off$at me: $off$at x kernel: $off"
health '' "python[12]: $off"
# Who has written a line, or quotes one, is known of many logs.
for others in "<12>[ 1.0] $off" "user  :warn  : [ 1.0] $off" "{\"MESSAGE\":\"${off%??}\",\"_TRANSPORT\":\"stdout\"}" \
	"$at python3[5]: hello\n      $off" "[ 1.0] overlay: Unknown parameter '$off" "[ 1.0] g sh: $off" "$at kernel[4711]: $off" \
	"Dez  1 00:00:01 g python3[99]: $off" "kern.log:Jan  1 00:00:01 g python3[99]: $off"; do
	health '' "$others"
	[[ $(printf %b "$others" | "$program" xid - 2>&1) == *"not known to be the kernel's: "[12] ]] || fail "xid - does not say what it passes over"
done
# A verdict by lines in the wrong order would be wrong.
for log in "kern.log:Nov 26 10:00:00 n1 kernel: ${off}kern.log.1:Nov 25 10:00:00 n1 kernel: $load" "2026-11-26T10:00:00 n1 kernel: ${off}2026-11-26T09:59:59 n1 kernel: $load" "[300.0] ${load}[200.0] ${off}[100.0] $off"; do
	health '' "$log"
	[[ $(printf %b "$log" | "$program" xid - 2>&1) == *'xidscope: the log begins with its newest line: '*tac* ]] || fail "xid - does not say that $log is newest first"
	printf %b "$log" | "$program" xid - >out 2>&1 && fail "a log that is newest first is good"
	printf %b "$log" | tac | "$program" xid - 2>&1 | grep -q '^health: ' || fail "a log that tac has reversed has no verdict"
done
health critical "1月 31 03:04:05 n1 kernel: x\n2月 28 03:04:05 n1 kernel: ${off}3月 15 03:04:05 n1 kernel: x\n4月  1 03:04:05 n1 kernel: x\n"
health unknown "Xyz  1 00:00:01 g kernel: ${off}Jan  1 00:00:01 g kernel: NVRM: API mismatch: the client\n"
health critical "[1.0] ${off}[2.0] Linux version 6.1.0 (x) #1 SMP\n[3.0] ${off}"
health ok "[1.0] ${off}[2.0] Linux version 6.1.0 (x) #1 SMP\n"
health critical "\033[32m[ 1.5] \033[0m\033[33mNVRM: \033[0m\033[1mXid (PCI:0000:05:00): 79, gone.\033[0m\n"
bug='[10.0] BUG: kernel NULL pointer dereference, address: 00000000000000a8\n[10.1] Oops: 0000 [#1] SMP NOPTI\n'
where='[11.1] RIP: 0010:uvm_hmm_unregister_gpu+0x51/0x3a0 [nvidia_uvm]\n'
health critical "${bug}[10.5] CPU: 3 PID: 7 Comm: x Tainted: P  OE 6.1\n$where" # a slow console
first=${bug%%\\n*}
health critical "[Fri Nov 27 03:04:05 2026]${first#*]}\n[Fri Nov 27 03:04:06 2026]${where#*]}" # between two seconds
health critical "${bug}[10.5] watchdog: BUG: soft lockup - CPU#7 stuck for 26s! [python3:1]\n[10.6] CPU: 3 PID: 7 Comm: x Tainted: P
[10.6] CPU: 7 PID: 9 Comm: y Tainted: P\n$where"
late() { printf '[%d.0] NVRM: GPU%d _kgspRpcRecvPoll: GSP RM heartbeat timed out\\n' "$@"; }
health warning "$(late 1 0 39 1 77 2 115 3 153 4 191 5 229 6 267 7 302 0)"
health critical "$(late 1 0 39 0 77 0 115 0 153 0 191 0 229 0 267 0 302 0)"
printf '[1.0] EDAC MC0: 1 UE memory read error on x (channel:0 slot:0 page:0x1 offset:0x0 grain:32)\n' | "$program" xid - >out
grep -q 'seen: edac_uncorrected of MC0, 1 time' out || fail "an uncorrected error is not named: $(<out)"
"$program" xid --list >out
(($(wc -l <out) > 150)) || fail "--list lists $(wc -l <out) codes"
grep -q '^79 *fatal *hw *restart_bm *GPU no longer answers' out || fail "--list has no Xid 79"
grep -q '^sxid:20034 *fatal *nvswitch *reset_gpu *HW_DLPL_LTSSM_FAULT_UP' out || fail "--list has no SXid 20034"
line='NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000)'
expect 0 "Xid 149: *severity  fatal*device    0000:c1:00.0*decided   by the text: NETIR_LINK_EVT Fatal 0x004505c6*" "" xid "$line"
json "j['severity'] == 'fatal' and j['device'] == '0000:c1:00.0' and j['decided_by'].startswith('NETIR')" xid --json "$line"
expect 0 "Xid 45: *severity  info*process   p?, pid 7*decided   by the text: caused by Xid 31*" "" \
	xid "NVRM: Xid (PCI:0000:c1:00): 45, pid=7, name=p"$'\x1b'", Ch 1, caused by previous Xid 31"
expect 0 "*severity  fatal*decided   by the text: RST: Yes*" "" xid "NVRM: Xid (PCI:0000:07:00 GPU-I:05): 94, Contained: LTC. RST: No, D-RST: Yes"
expect 0 "Xid 79: *Xid 13: *SXid 20034: *" "" xid Xid79 "13, SXid 20034"
printf '13 other text\n[ 1.0] %s\nsxid:20034\n' "$line" | "$program" xid - >out || fail "xid - fails"
grep -qx 'health: critical' out || fail "xid - says $(<out)"
[[ $(grep -c '^S\?Xid' out) == 2 ]] || fail "xid - explains $(grep '^S\?Xid' out)"
printf '%s\n' 'Nov 26 10:00:00 n kernel: NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0xf:2131)' >log
"$program" xid - <log >out || fail "xid - fails on a log of driver errors"
grep -q 'fail by driver_error: rm_init_adapter_failed of 0000:01:00.0, 1 time. Drain' out || fail "xid - says $(<out)"
"$program" xid --json - <log >out
[[ $(<out) == '{"health":"critical","findings":[{"rule":"driver_error","level":"fail","device":"0000:01:00.0",'* ]] ||
	fail "xid --json - says $(<out)"
printf '[1.0] x\n[2.0] %s\n' 'NVRM: API mismatch: x' 'NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9a:00 (printing 1 of every 30).' >log
"$program" xid - <log | grep -q 'warn by gsp_rate_limited' || fail "xid - does not know the limit of GSP errors"
"$program" xid --json - <log | grep -q '"rule":"gsp_rate_limited"[^}]*"last"' && fail "a state has the time of another line"
# What dmesg prints for people (also with -x), and ISO 8601.
for time in '[Fri Nov 27 03:04:05 2026]' 'kern  :alert : [   12.345678]' 'kern  :err   : 2026-11-30T00:00:01,5+00:00' '[  123.4 <    0.01>]' \
	'<2>1 2026-11-30T00:00:01.5+00:00 gpu01 kernel - - -' kern.log.1:33:Jan\ \ 2\ 03:04:05\ n\ kernel: '12:[  1.5]' '[  +0.000012]' 2026-11-27T03:04:05,123456+01:00 '2026-11-27T03:04:05+0100 n kernel:'; do
	printf "$time %s\n" 'BUG: unable to handle page fault for address: ffff' 'RIP: 0010:memcpy+0x1/0x2' \
		' nfs_wb_page+0x1/0x2 [nfs]' >log
	"$program" xid - <log | grep -q 'fail by kernel_oops: kernel_oops of nfs: .*in nfs_wb_page' || fail "an oops at $time is not found"
done
for time in 0 200 400 600 800; do
	echo "[$time.0] NVRM: Xid (PCI:0000:08:00): 79, GPU has fallen off the bus."
done | "$program" xid - | grep -q 'fail by xid_fatal: Xid 79 of .*Drain the node and replace the GPU: resets have not helped' ||
	fail "the advice of xid - is not that of check"
printf '[1.0] WARNING: CPU: 5 PID: 12 at x.c:1 x+0x1/0x2\n[1.0] RIP: 0010:uvm_x+0x1/0x2 [nvidia_uvm]\n[1.0] NVRM: f: Assertion failed: x @ y.c:1\n' |
	"$program" xid - >out
[[ $(<out) == *'health: ok'*'seen: assert_failed, 1 time'*'seen: kernel_warning of nvidia_uvm'* ||
	$(<out) == *'health: ok'*'seen: kernel_warning of nvidia_uvm'*'seen: assert_failed, 1 time'* ]] || fail "xid - does not say what it has seen: $(<out)"
expect 0 "*fail by driver_error: rm_init_adapter_failed*no known times*" "" xid 'NVRM: GPU 0000:08:00.0: RmInitAdapter failed! (0x26:0x56:1474)'
for time in 03:04:05 03:04:35 03:05:05; do
	echo "[Fri Nov 27 $time 2026] watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [dd:1]"
done >log
"$program" xid - <log | grep -q 'fail by cpu_stuck: soft_lockup of cpu3' || fail "three lockups do not fail"
sed 's/:04:35/:24:35/; s/:05:05/:55:05/' log | "$program" xid - | grep -qx 'health: warning' || fail "three lockups in an hour fail"
# Summer time begins between them.
for time in 01:59:30+0100 01:59:58+01:00 '03:00:26 +0200'; do
	echo "2026-03-29T$time n1 kernel: watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [dd:1]"
done | "$program" xid - | grep -q 'fail by cpu_stuck' || fail "three lockups at the begin of summer time do not fail"
# Each form of a saved log: three lockups of the kernel within a minute; then the same text, which another has written.
saved() { for second in 01 31 55; do printf %b "${1//@S/$second}" | sed "s/@T/${text//\//.}/"; done | "$program" xid - 2>&1; }
text='watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [dd:1]'
forms=0
while IFS='|' read -r kernels others; do
	[[ $kernels != '#'* ]] || continue
	((++forms))
	[[ $(saved "$kernels\n") == *'fail by cpu_stuck: soft_lockup of cpu3'* ]] || fail "three lockups are not found in $kernels: $(saved "$kernels\n")"
	[[ -z $others || $(saved "$others\n") == *"not known to be the kernel's: "[1-9]* ]] || fail "a text of others counts: $others"
done <"$top/tests/data/saved_logs.txt"
((forms > 30)) || fail "the forms of saved logs are missing"
yes "$(printf ':%.0s' {1..4095})" | head -500 | timeout 5 "$program" xid - >out 2>&1
((PIPESTATUS[2] == 1)) || fail "lines of colons take seconds"
[[ $(printf 'n1> %s\n' 'NVRM: API mismatch: the client' | "$program" xid -) == 'health: unknown'*'with an unknown prefix: 1.'* ]] || fail "an unknown form is ok"
[[ $(printf '[  1.0] NVRM: API mismatch: the client\n       NVRM: this kernel module has\n' | "$program" xid -) == 'health: ok'* ]] || fail "the further lines of a message are an unknown form"
for fields in 'Fri 2026-01-02 03:04:05.6 UTC [s=a;i=1]\n    _TRANSPORT=kernel\n    MESSAGE=' '__CURSOR=s=1\n_TRANSPORT=stdout\nMESSAGE='; do
	[[ $(printf %b "$fields$line" | "$program" xid - 2>&1) == 'xidscope: journalctl -o verbose and -o export are not read: use -o json' ]] ||
		fail "entries with a line for each field are read: $fields"
done
[[ $(printf '{"MESSAGE":[78,86,82,77],"_TRANSPORT":"kernel"}\n[1.0] NVRM: API mismatch: the client\n' | "$program" xid -) == 'health: unknown'* ]] ||
	fail "a text that is not read is ok"
# An object that has a line for each member: of dmesg --json, and of journalctl -o json-pretty.
text='watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [dd:1]'
dmesg() { # PRIORITY
	printf '{\n   "dmesg": [\n      {\n'
	printf '         "pri": %d,\n         "time":    %d.250000,\n         "msg": "%s"\n      },{\n' "$1" 12 "$text" "$1" 42 "$text" "$1" 72 "$text"
	printf '         "pri": 6,\n         "time":    99.5,\n         "msg": "x"\n      }\n   ]\n}\n'
}
dmesg 3 | "$program" xid --json - >out
[[ $(<out) == *'"rule":"cpu_stuck"'*'"last":"72.250000"'*'"device":"cpu3","count":3,"last":"72.250000"'* ]] || fail "dmesg --json is read as $(<out)"
[[ $(dmesg 11 | "$program" xid - 2>&1) == *"not known to be the kernel's: 3" ]] || fail "a text of others counts in dmesg --json"
pretty='{\n\t"MESSAGE" : "'$text'",\n\t"__REALTIME_TIMESTAMP" : "17641584@S123456",\n\t"_TRANSPORT" : "kernel"\n}'
[[ $(saved "$pretty") == *'fail by cpu_stuck: soft_lockup of cpu3: dd/1, 3 times'* ]] || fail "journalctl -o json-pretty is read as $(saved "$pretty")"
[[ $(saved "${pretty/kernel/stdout}") == *"not known to be the kernel's: "[1-9]* ]] || fail "a text of others counts in journalctl -o json-pretty"
text='rcu: INFO: rcu_sched self-detected stall on CPU'
[[ $(saved "Jan  2 03:04:@S n1 kernel: @T\nJan  2 03:04:@S n1 kernel: rcu: #0113-....: (5250 ticks this GP) idle=1\n") == *'fail by cpu_stuck: rcu_stall of cpu3'* ]] ||
	fail "a tab that rsyslog has escaped hides the CPU of a stall"
# The times of a log in JSON are those that it has.
printf 'Jan  2 03:04:05 n1 kernel: %s\nJan  2 03:04:07 n1 kernel: %s\n' "$line" 'NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0xf:2131)' |
	"$program" xid --json - >out
[[ $(<out) == *'"time":"Jan  2 03:04:05"'*'"rule":"driver_error"'*'"last":"Jan  2 03:04:07"'* ]] || fail "xid --json of a log has no times: $(<out)"
printf '2026-01-02T03:04:05Z n1 kernel: %s\n' "$text" x "[9.0] watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [dd:1]" | "$program" xid --json - >out
[[ $(<out) == *'"seen":['*'"kind":"rcu_stall"'*'"last":"2026-01-02T03:04:05Z"'* ]] || fail "what was seen has no time: $(<out)"
# Two bursts of a minute are no stop of five minutes, five minutes are.
for second in {0..59}; do
	printf '[%5d.0] NVRM: GPU0 _kgspRpcRecvPoll: GSP RM heartbeat timed out\n' $((second * 6))
done >log
sed 's/GPU0 //' log | "$program" xid - | grep -qx 'health: warning' || fail "late heartbeats of any GPU do not warn"
head -20 log | "$program" xid - | grep -qx 'health: warning' || fail "late heartbeats do not warn"
"$program" xid - <log | grep -qx 'health: critical' || fail "a GSP that has stopped does not fail"
"$program" xid - 2>out </dev/null && fail "xid - takes an empty text"
grep -qx 'xidscope: the input has no Xid, no SXid and no driver error of the kernel; lines that are not known to be the kernel.s: 0' out || fail "xid - says $(<out)"

((failed)) || echo "check and xid do what they should"
exit $failed
