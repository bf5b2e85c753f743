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
xid() { # CODE SEVERITY ACTION COUNT TIME
	echo "xidscope_gpu_xid_errors_total{gpu=\"$gpu\",xid=\"$1\",severity=\"$2\",action=\"$3\"} $4"
	echo "xidscope_gpu_xid_last_timestamp_seconds{gpu=\"$gpu\",xid=\"$1\"} $5.000"
}
file() { cat - <(echo '# EOF') >"$1"; }

waiter='xidscope_rpc_oldest_waiter_seconds{server="nas|1",queue="pending"}'
echo "$waiter 1.500000000" | file healthy
{ xid 62 warning reset_gpu 1 "$now" && xid 31 info x 4 "$now"; } | file warning
{ xid 79 fatal restart_bm 2 1795255200 && xid 62 warning reset_gpu 1 "$now" && xid 48 fatal workflow_xid_48 1 "$now"; } | file critical
echo "$waiter 75.000000000" | file waiting
head -n 1 critical >torn
echo 'xidscope_gpu_gsp_rate_limited{gpu="0000:c1:00.0"} maybe' | file damaged
: >empty
cp healthy old && touch -d '-200 seconds' old
cp healthy future && touch -d '+1 hour' future
performance='oldest_waiter=0.0s;60'

# ---- every state, in every style ----
expect 0 "XIDSCOPE OK: no open fault | xids=0 oldest_waiter=1.5s;60" "" check --file healthy
expect 1 "XIDSCOPE WARNING: GPU $gpu: Xid 62 (*) 1 time, last 20*Z: Drain the node and reset the GPU. | xids=5 $performance" "" \
	check --file warning
reason="GPU $gpu: Xid 79 (GPU no longer answers on the PCIe bus) 2 times, last 2026-11-21T10:00:00Z: Drain the node and \
restart it; if the error returns, replace the GPU."
expect 2 "XIDSCOPE CRITICAL: $reason (2 more) | xids=4 $performance"$'\n'"CRITICAL: GPU $gpu: Xid 48 *"$'\n'"WARNING: GPU \
$gpu: Xid 62 *" "" check --file critical
expect 1 "XIDSCOPE WARNING: NFS server nas/1: a call has been waiting for its reply for 75 s: * | xids=0 \
oldest_waiter=75.0s;60" "" check --file waiting
expect 0 "" "" check --style slurm --file healthy
# a prolog that runs it fails for a failure alone
expect 0 "Xid 62 c1:00.0 \[xidscope warn\] GPU $gpu: Xid 62 *" "" check --style slurm --file warning
expect 2 "Xid 79 c1:00.0 \[xidscope fail\] $reason (1 more)" "" check --style slurm --file critical
expect 0 "no open fault" "" check --style npd --file healthy
expect 0 "Xid 62 on $gpu, 1 time, last 20*Z" "" check --style npd --file warning
expect 1 "Xid 79 on $gpu, 2 times, last 2026-11-21T10:00:00Z" "" check --style npd --file critical

unknown() { # PATTERN ARGUMENT...
	local why=$1
	shift
	expect 3 "XIDSCOPE UNKNOWN: $why" "" check "$@"
	expect 0 "" "xidscope: $why" check --style slurm "$@"
	"$program" check --style npd "$@" >out
	(($? == 2)) || fail "npd: '$*' is not unknown"
	(($(wc -l <out) == 1 && $(wc -c <out) <= 81)) || fail "npd: '$*' prints '$(<out)'"
	json "j['health'] == 'unknown' and j['exit_code'] == 3 and j['trouble'] and not j['findings']" check --json "$@"
}
unknown "cannot read absent: No such file or directory; *" --file absent
unknown "cannot read $dir: it is not a regular file; *" --file "$dir"
ln -s healthy link
unknown "cannot read link: it is a symbolic link; *" --file link
unknown "old is 2?? s old: *" --file old
unknown "future is from the future, by 3??? s: the clock was put back since *" --file future
json "-3601 < j['age_seconds'] < -3500" check --json --file future
expect 3 "XIDSCOPE UNKNOWN: /etc/passwd is no metrics file of xidscope: name the one *" "" check --file /etc/passwd
unknown "torn: the end is missing: *" --file torn
unknown "empty: the end is missing: *" --file empty
unknown "damaged: line 1 is damaged" --file damaged
echo 'gpu0 79 1' >wrong_ack
unknown "the acknowledgements: wrong_ack: line 1: 'gpu0' is not a PCI address *" --file critical --ack wrong_ack
expect 0 "*" "" check --file old --max-age 300

# ---- the agent's heartbeat: whatever the node's state ----
read -r uptime _ </proc/uptime
beat() { printf '%020d\n' "$(awk -v ago="$1" -v now="$uptime" 'BEGIN { printf "%.0f", (now - ago) * 1e9 }')" >beat; }
expect 3 'unknown: \\x1b[[]m\\xe2\\x80\\xae: No such file *' "" check --heartbeat $'\e[m\xe2\x80\xae'
expect 3 "unknown: beat: No such file or directory; is 'xidscope run --heartbeat' running?" "" check --heartbeat beat
: >beat
expect 3 "unknown: beat: no heartbeat since boot; *" "" check --heartbeat beat
beat 30
expect 0 "alive: the agent's last heartbeat was 3? s ago" "" check --heartbeat beat --file critical
expect 3 "stuck: the agent's last heartbeat was 3? s ago" "" check --heartbeat beat --max-age 20
expect 2 "stuck: *" "" check --heartbeat beat --max-age 20 --style npd
beat -1000
expect 3 "unknown: beat: no heartbeat since boot; *" "" check --heartbeat beat
expect 3 "" "xidscope: unknown option '--bogus'; see xidscope check --help" check --bogus
expect 3 "" "xidscope: invalid --style 'x': use one of nagios, slurm, npd" check --style x

# ---- what narrows it ----
expect 2 "*Xid 48*(1 more)*" "" check --file critical --window 1h
expect 2 "*Xid 48*(1 more)*" "" check --file critical --since 2026-11-21T10:00:01Z
touch -d '+5 seconds' critical # by the clock of a file server
printf '%s 79 2026-11-21T10:00:00Z seen\n* 48 %s\n* 62 %s\n' "$gpu" "$now" "$now" >acks
expect 0 "XIDSCOPE OK: * | xids=4 $performance" "" check --file critical --ack acks
expect 2 "*" "" check --file critical --ack no_such_file
expect 1 "*" "" check --file critical --rule xid_fatal=warn
expect 0 "XIDSCOPE OK: * | xids=4 oldest_waiter=0.0s" "" \
	check --file critical --rule xid_fatal=off --rule xid_hardware=off --rule nfs_waiter=off
expect 2 "XIDSCOPE CRITICAL: NFS server * oldest_waiter=75.0s;;70" "" check --file waiting --rule nfs_waiter=fail:70
expect 0 "*" "" check --file waiting --rule nfs_waiter=warn:80
{ sed '$d' critical && echo "xidscope_gpu_recovered_timestamp_seconds{gpu=\"all\",evidence=\"driver_loaded\"} $now.000"; } | file recovered
expect 0 "*" "" check --file recovered

# ---- the node itself; a guest has mounts that hang ----
expect 2 "XIDSCOPE CRITICAL: Mount /no/mount/x is not mounted: *" "" check --file healthy --mount '/no/mount|x'
expect 0 "*" "" check --file healthy --mount /proc --mount /sys,ro
expect 2 "*The driver has * of 200 GPUs*" "" check --file healthy --gpus 200
expect 0 "*" "" check --file healthy --gpus 200 --rule gpus_missing=off
expect 3 "" "xidscope: invalid --mount 'proc': use an absolute path*" check --mount proc

# ---- JSON ----
json "j['health'] == 'ok' and j['exit_code'] == 0 and j['findings'] == [] and j['left_out'] == 0" check --json --file healthy
json "j['health'] == 'critical' and j['exit_code'] == 2 and j['xids'] == 4 and j['age_seconds'] >= 0
and [f['rule'] for f in j['findings']] == ['xid_fatal', 'xid_fatal', 'xid_hardware']
and j['findings'][0]['level'] == 'fail' and j['findings'][0]['brief'].startswith('Xid 79 on ')" check --json --file critical
json "j['exit_code'] == 1" check --json --style npd --file critical
json "j['drain_reason'].startswith('Xid 79 c1:00.0 [xidscope fail] GPU ') and [(f['device'], f['xid'], f['level'], f['count'],
f['last'], f['action']) for f in j['findings']][0] == ('$gpu', 79, 'fail', 2, '2026-11-21T10:00:00Z', 'restart_bm')
and 'sxid' not in j['findings'][0] and 'first' not in j['findings'][0]" check --json --file critical
json "j['drain_reason'] == ''" check --json --file healthy
{ echo "xidscope_nvswitch_sxid_errors_total{device=\"$gpu\",sxid=\"20034\",severity=\"fatal\"} 3" &&
	echo "xidscope_nvswitch_sxid_first_timestamp_seconds{device=\"$gpu\",sxid=\"20034\"} 1795255100.000" &&
	echo "xidscope_nvswitch_sxid_last_timestamp_seconds{device=\"$gpu\",sxid=\"20034\"} 1795255200.000"; } | file switch
json "[(f['sxid'], f['count'], f['first'], f['last'], f['action']) for f in j['findings']] ==
[(20034, 3, '2026-11-21T09:58:20Z', '2026-11-21T10:00:00Z', 'reset_gpu')]" check --json --file switch
json "[r['rule'] for r in j][0] == 'xid_fatal' and j[2]['limit'] == 1000 and j[2]['unit'] == 'reports' and 'limit' not in j[0]
and all(r['level'] in ('off', 'warn', 'fail') and r['clears'] for r in j)" check --list-rules --json
expect 2 "CRITICAL: 1 finding*CRITICAL: NVSwitch $gpu: SXid 20034*rule *sxid_fatal*evidence *3 of sxid:20034*began *2026-11-21 09:58:20 +0000\
*last *2026-11-21 10:00:00 +0000*cleared *xidscope ack $gpu sxid:20034" "" check --explain --file switch
expect 0 "OK: 0 findings" "" check --explain --file healthy
expect 2 "*Mount /no/mount is not mounted*evidence *the present state*began *not known*cleared *" "" check --explain --file healthy --mount /no/mount
expect 3 "UNKNOWN: torn: *" "" check --explain --file torn
json "'nas|1' in j['findings'][0]['reason']" check --json --file waiting

# ---- a file full of nasty names, in both formats ----
for format in openmetrics prometheus; do
	"${program%/*}/tests/write_sample" $format node >nasty
	json "j['health'] == 'critical' and 'sxid_fatal' in [f['rule'] for f in j['findings']]" check --json --file nasty
	"$program" check --file nasty >out
	(($(grep -c '|' out) == 1)) || fail "$format: a name brings its own bar, or the first line has none"
done

# ---- xidscope xid ----
expect 0 "Xid 79: GPU no longer answers*  severity  fatal*  action    restart_bm*  advice    Drain the node*" "" xid 79
expect 0 "*note      The text decides the severity*" "" xid 149
expect 0 "*mnemonic  ISINK_ZERO_LIFETIME*documented as PSHC_ZERO_LIFETIME*" "" xid 165
json "j['mnemonic'] == 'ISINK_ZERO_LIFETIME' and j['documented'] == 'PSHC_ZERO_LIFETIME' and j['source'].startswith('https:')" xid 165 --json
# times that a person reads are local, those of a monitoring system are not
TZ=CET-1 expect 2 "CRITICAL: *SXid 20034*, last 2026-11-21 11:00:00 +0100: *last *2026-11-21 11:00:00 +0100*" "" check --explain --file switch
TZ=CET-1 expect 2 "*SXid 20034*, last 2026-11-21T10:00:00Z: *" "" check --file switch
TZ=CET-1 script -qc "$program check --file switch" /dev/null >typed
grep -q 'SXid 20034.*, last 2026-11-21 11:00:00 +0100: ' typed || fail "on a terminal check prints $(<typed)"
script -qc "stty cols 80; $program xid 149" /dev/null | tr -d '\r' >typed
! grep -E '^.{81}' typed || fail "xid is wider than a terminal"
grep -q '^            otherwise check' typed || fail "xid's advice is not below itself: $(<typed)"
expect 0 "*note      One that names a previous Xid*info.*source    https://docs.nvidia.com/*" "" xid 45
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
"$program" xid --list >out
(($(wc -l <out) > 150)) || fail "--list lists $(wc -l <out) codes"
grep -q '^79 *fatal *hw *restart_bm *GPU no longer answers' out || fail "--list has no Xid 79"
grep -q '^sxid:20034 *fatal *nvswitch *reset_gpu *HW_DLPL_LTSSM_FAULT_UP' out || fail "--list has no SXid 20034"
line='NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000)'
expect 0 "Xid 149: *severity  fatal*device    0000:c1:00.0*decided   by the text: NETIR_LINK_EVT Fatal 0x004505c6*" "" xid "$line"
json "j['severity'] == 'fatal' and j['device'] == '0000:c1:00.0' and j['decided_by'].startswith('NETIR')" xid --json "$line"
expect 0 "Xid 45: *severity  info*process   p?, pid 7*decided   by the text: caused by Xid 31*" "" \
	xid "NVRM: Xid (PCI:0000:c1:00): 45, pid=7, name=p"$'\x1b'", Ch 1, caused by previous Xid 31"
expect 0 "Xid 79: *Xid 13: *SXid 20034: *" "" xid Xid79 "13, SXid 20034"
printf '13 other text\n[ 1.0] %s\nsxid:20034\n' "$line" | "$program" xid - >out || fail "xid - fails"
[[ $(grep -c '^S\?Xid' out) == 2 ]] || fail "xid - explains $(grep '^S\?Xid' out)"
"$program" xid - 2>out </dev/null && fail "xid - takes an empty text"
grep -qx 'xidscope: standard input has no Xid and no SXid' out || fail "xid - says $(<out)"

((failed)) || echo "check and xid do what they should"
exit $failed
