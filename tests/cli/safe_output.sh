#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that no command prints a control character, a bidirectional mark or a byte that is not UTF-8, on standard output
# or standard error, as text or JSON, whatever is in its options, paths and files. Needs no kernel and no root.
set -uo pipefail
export LC_ALL=C.UTF-8 # for the characters that are given by number
. "$(dirname "$0")/lib.sh"

# Escape sequences, C1 as a character and as a byte, an override, an isolate, a line separator, a zero-width space, the byte
# order mark, an overlong escape, a surrogate, one above U+10FFFF. First, what must stay as it is.
plain=$'caf\u00e9 \u6f22'
nasty=$plain$'\e]0;x\a\e[31m\x7f\u009b31m\x9b\u202etxt\u2066\u200f\u061c\u2028\u2029\u200b\ufeff\xc0\x9b\xed\xa0\x80\xf4\x90\x80\x80'
broken=$nasty$'\n<0>fake\r\tline' # for what may have newlines

# The reader goes by Unicode's categories: controls, formats, separators of lines and paragraphs, surrogates.
safe() { # WHAT: the files out and err
	/usr/bin/python3 - out err <<-'END' || fail "$1 is not safe"
	import sys, unicodedata
	for name in sys.argv[1:]:
	    text = open(name, "rb").read().decode("utf-8")
	    bad = {f"U+{ord(c):04X}" for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") and c != "\n"}
	    bad and sys.exit(f"{name}: {sorted(bad)}")
	    any(line.startswith("<0>fake") for line in text.split("\n")) and sys.exit(f"{name}: a line of its own")
	END
}

# try CODE SHOWN ARGUMENT...: the text SHOWN is on standard output or standard error.
try() {
	local code=$1 shown=$2 got=0 what
	shift 2
	what=$(cat -v <<<"$*")
	timeout 120 "$program" "$@" >out 2>err || got=$?
	[[ $got == "$code" ]] || fail "'$what' ends with $got, not $code"
	grep -qF -- "$shown" out err || fail "'$what' does not show '$shown' but: $(cat -v out err)"
	safe "the output of '$what'"
}

# ---- command lines ----
shown="$plain"'\x1b]0;x\x07\x1b[31m\x7f\xc2\x9b31m\x9b\xe2\x80\xaetxt\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xe2\x80\xa9'
shown+='\xe2\x80\x8b\xef\xbb\xbf\xc0\x9b\xed\xa0\x80\xf4\x90\x80\x80'
line='\x0a<0>fake\x0d\x09line'
try 2 "xidscope: unknown command '$shown$line'; see" "$broken"
try 2 "xidscope: unknown option '--$shown$line'; see" run "--$broken"
try 2 "xidscope: invalid --output '$shown$line': name a file" run --output "$broken"
try 2 "xidscope: invalid CODE '$shown$line': use" xid "$broken"

# ---- files ----
try 1 "xidscope: error: cannot read the policy file $shown$line: " xid --xid-policy "$broken" 79
try 1 "cannot read the policy file $plain"'\u001b]0;x\u0007' run --log json --xid-policy "$broken"
printf '79\t%s' "${nasty// /}" >policy
try 1 "policy: line 1: '${plain// /}"'\x1b' xid --xid-policy policy 79
printf '%s 79 x\n' "$nasty" >acks
: >empty
judge fine --ack acks --
declare -A unknown=([nagios]=3 [slurm]=0 [npd]=2)
for style in nagios slurm npd; do
	try "${unknown[$style]}" "cannot read $plain"'\x1b' check --style $style --health "$broken"
	try "${unknown[$style]}" "acks: line 1: '" check --style $style --health fine
done
try 2 "xidscope: invalid GPU CODE '$shown$line': use" ack "$broken" 79
try 2 "xidscope: invalid --until '$shown$line': use" ack c1:00.0 79 --until "$broken"
try 1 "xidscope: acks: line 1: '" ack --list --ack acks
printf '* 79 1 %s\n' "$nasty" >noted
try 0 '\x1b' ack --list --ack noted
try 3 "cannot read $plain"'\\x1b' check --json --health "$broken"
cp empty "$broken"
try 3 "$shown$line: it is damaged" check --health "$broken"

# ---- a health file with such names ----
for newline in '' $'\n<0>fake'; do
	judge foreign --ack none -- "waiter=75:$nasty$newline" xid=79:fatal:restart_bm:1:0 "xid=48:fatal:${nasty: -6}:1:0"
	try 2 "NFS server $shown" check --health foreign
	try 2 "0000:c1:00.0" check --style slurm --health foreign
	try 2 "NFS server $shown" check --explain --health foreign
	try 1 "0000:c1:00.0" check --style npd --health foreign
	# shellcheck disable=SC1003 # two backslashes
	try 2 "NFS server ${shown//'\'/'\\'}" check --json --health foreign
done
judge mounted --mount "/mnt/$nasty" --ack none --
for style in nagios slurm; do try 2 "Mount /mnt/$shown is not mounted" check --style $style --health mounted; done
try 1 "Mount /mnt/$shown is not mounted" check --style npd --health mounted
# shellcheck disable=SC1003 # two backslashes
try 2 "Mount /mnt/${shown//'\'/'\\'} is not mounted" check --json --health mounted

# ---- an event log, and a list of faults ----
/usr/bin/python3 - "$nasty" <<-'END'
	import json, os, sys
	name = os.fsencode(sys.argv[1])
	shown = name.decode("utf-8", "replace")
	event = {key: shown for key in ("name", "device", "comm", "text", "job", "pod", "cgroup", "owner", "version")}
	with open("events", "w") as log:
	    for kind in "xid", "kernel_event", "nfs_stall", "nfs_saturation", "agent", shown:
	        held = [{"cgroup": shown, "job": "7", "pod": shown, "comm": shown}]
	        print(json.dumps({"time": "2026-11-21T10:00:00Z", "kind": kind, "xid": 79, "held_by": held, **event}), file=log)
	health = json.load(open("foreign"))
	health["faults"] = [{key: shown for key in ("state", "kind", "fault", "device", "severity", "meaning", "advice")}]
	json.dump(health, open("foreign", "w"))
END
for json in '' --json; do
	escape=${json:+\\u00}
	try 0 "${escape:-\\x}1b" why --events events --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z ${json:+"$json"}
	try 0 "${escape:-$plain?}" faults --health foreign ${json:+"$json"}
done
try 0 '\x1b' why --events events --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z --job 7

((failed)) || echo "every command's output is safe"
exit $failed
