#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that `xidscope ack` acknowledges, lists and removes; that edits at once lose nothing; that a note cannot become a
# line; that a file which others may have written is refused by each reader; and that agent and check agree on it.
# Needs no root; as root it also tries files of others.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

export TZ=UTC
gpu=0000:c1:00.0
uuid=GPU-11111111-2222-3333-4444-555555555555
mkdir etc
fault=xid=79:fatal:restart_bm:2:2026-11-21T10:00:00Z,2026-11-21T09:58:20Z
# What the agent writes with the acknowledgements as they are: of a GPU without and with a UUID, and of another in its slot.
write_files() {
	judge plain --ack etc/acks -- "$fault"
	judge named --ack etc/acks -- "$fault" gpu="$uuid"
	judge replaced --ack etc/acks -- "$fault" gpu="${uuid/111111-2222/777777-2222}"
}
write_files
rmdir etc
check() {
	write_files
	expect "$1" "$2" "" check --style slurm --health "${3:-plain}"
}
# said: the output of ack, a pattern.
ack() { expect 0 "${said:-*ed *on *}" "" ack --ack etc/acks --health "${file:-plain}" "$@"; }
file_is() { # PATTERN
	# shellcheck disable=SC2053 # it is a pattern
	[[ $(<etc/acks) == $1 ]] || fail "the file is '$(<etc/acks)', not '$1'"
}

check 2 "Xid 79 c1:00.0 \[xidscope fail\] GPU $gpu: Xid 79 (*"
umask 077 # of an administrator: monitoring, which is another user, reads the file all the same
said="acknowledged Xid 79 on $gpu: 1 fault, 0 still open" ack c1:00.0 79 --until 2026-11-21T10:00:00Z --note 'riser # seated'
umask 022
[[ $(stat -c %a etc etc/acks) == $'755\n644' ]] || fail "others cannot read it: $(stat -c '%A %n' etc etc/acks)"
file_is "$gpu 79 2026-11-21T10:00:00Z  # riser # seated"
check 0 ""
[[ $(stat -c %a etc/acks) == 644 ]] || fail "its mode is $(stat -c %a etc/acks)"
ack --remove $gpu 79
expect 1 "" "xidscope: no open Xid 79 on $gpu from before --until; see xidscope faults, or use --force" \
	ack --ack etc/acks --health plain $gpu 079 --until 2026-11-21T09:00:00Z
file_is ""
said="acknowledged Xid 79 on $gpu" ack $gpu 079 --until 2026-11-21T09:00:00Z --force
file_is "$gpu 79 2026-11-21T09:00:00Z"
check 2 "Xid 79*"
said="snoozed Xid 79 on $gpu until 2099-01-01 00:00:00 +0000: 1 fault, 0 still open" ack $gpu 79 --until 2099-01-01
file_is "$gpu 79 until:2099-01-01T00:00:00Z"
check 0 ""
said="removed the acknowledgement of Xid 79 on $gpu" ack --remove $gpu 79
file_is ""
check 2 "Xid 79*"
expect 1 "" "xidscope: there is no acknowledgement of Xid 79 on $gpu" ack --ack etc/acks --remove $gpu 79

# ---- only what is open, in times as a person writes them ----
refuse() { expect 1 "" "$1" ack --ack etc/acks --health "${file:-plain}" "${@:2}"; }
refuse "xidscope: no open Xid 48 on $gpu; see xidscope faults, or use --force" $gpu 48
refuse "xidscope: no open Xid 79 on 0000:c2:00.0; *" c2:00.0 79
refuse "xidscope: no open fault on 0000:c2:00.0; *" c2:00.0 '*'
file=none refuse "xidscope: cannot read none: No such file or directory: *; --force acknowledges all the same" $gpu 79
file_is ""
said="acknowledged all faults on all devices: 1 fault, 0 still open" ack '*' '*'
refuse "xidscope: no open Xid 79 on $gpu that is not acknowledged already; *" $gpu 79
ack --remove '*' '*'
export TZ=CET-1
for time in 4h 23:59:59 tomorrow '2099-01-01 10:00'; do
	said="snoozed Xid 79 on $gpu until 20??-??-?? ??:??:?? +0100: 1 fault, 0 still open" ack $gpu 79 --until "$time"
	ack --remove $gpu 79
done
ack $gpu 79 --until '2026-11-21 11:00'
file_is "$gpu 79 2026-11-21T10:00:00Z"
ack --remove $gpu 79
export TZ=UTC

# ---- it follows the GPU, not its slot ----
file=named ack $gpu 79 --until 2099-01-01
file_is "$uuid 79 until:2099-01-01T00:00:00Z"
check 0 "" named
check 2 "Xid 79*" replaced
check 2 "Xid 79*" plain
file=named ack --remove $gpu 79
file_is ""

# ---- the command that a check advises does it, whatever the finding is about ----
advised() { # FACT...
	local command
	judge advised --ack etc/acks -- "$@"
	command=$("$program" check --json --health advised | sed -n 's/.*"acknowledge":"\(xidscope [^"]*\)".*/\1/p')
	grep -qF "to acknowledge it: $command" <("$program" check --explain --health advised) || fail "of $1 it does not explain '$command'"
	command=${command/TIME/2099-01-01}
	file=advised eval "${command/xidscope ack/ack}"
	judge advised --ack etc/acks -- "$@"
	expect 0 "XIDSCOPE OK: no open fault (1 *ed: *) | *" "" check --health advised
	grep -q 'acknowledged: \|snoozed: ' <("$program" check --explain --health advised) || fail "an acknowledged $1 is not shown"
	rm -f etc/acks
}
for kind in reset_required fallen_off_bus nvswitch_failed; do
	advised "error=$kind:2:2026-11-21T10:00:00Z"
done
advised 'waiter=75:nas 1'
advised sxid=20034:fatal::3:2026-11-21T10:00:00Z
advised "$fault"

# ---- what others have written stays, and what is wrong is not made worse ----
printf '# ours\n\n* 31 2026-01-01 by hand # here\n* nfs_waiter 1' >etc/acks
ack $gpu 79 --until 2026-11-21 --force
file_is $'# ours\n\n\\* 31 2026-01-01 by hand # here\n\\* nfs_waiter 1\n'"$gpu 79 2026-11-21T00:00:00Z"
expect 0 "*31 *acknowledged*faults up to 2026-01-01 00:00:00 +0000  by hand # here*nfs_waiter*$gpu  79 *" "" ack --list --ack etc/acks
echo 'gpu0 79 1' >etc/acks
expect 1 "" "xidscope: etc/acks: line 1: 'gpu0' is not *; correct that line first" ack --ack etc/acks $gpu 79
file_is "gpu0 79 1"

# ---- a text from the command line stays one comment ----
rm etc/acks
ack --force $gpu 48 --note $'x\n* * 2099-01-01\n\e[31m\xe2\x80\xae|"'
(($(wc -l <etc/acks) == 1)) || fail "a note brings lines: $(<etc/acks)"
! LC_ALL=C grep -q '[^ -~]' etc/acks || fail "a note brings control characters"
check 2 "Xid 79*"
expect 2 "" "xidscope: invalid --note 'xxx*': use at most 200 bytes" ack $gpu 79 --note "$(printf 'x%.0s' {1..201})"
expect 2 "" "xidscope: invalid GPU CODE '\\\\x1b\[31m': use a PCI address*" ack $'\e[31m' 79
expect 2 "" "xidscope: invalid GPU CODE '../../x': use an Xid*" ack $gpu ../../x
expect 2 "" "xidscope: invalid --until '1;x': use 10:00, *" ack $gpu 79 --until '1;x'

# what would have no effect
for what in falen_off_bus xid_fatal x; do
	expect 2 "" "xidscope: no rule finds $what: use *" ack --ack etc/acks $gpu $what
done
expect 2 "" "xidscope: nfs_waiter is a state: snooze it by --until *" ack --ack etc/acks '*' nfs_waiter
expect 2 "" "xidscope: pcie_width is a state: *" ack --ack etc/acks $gpu pcie_width --until 2026-01-01
[[ $(wc -l <etc/acks) == 1 ]] || fail "it writes what has no effect: $(<etc/acks)"

# ---- at once ----
rm etc/acks
for i in {1..50}; do "$program" ack --force --ack etc/acks $gpu "$i" >/dev/null 2>>errors & done
wait
(($(wc -l <etc/acks) == 50)) || fail "of 50 edits at once $(wc -l <etc/acks) are left: $(<errors)"
[[ $(ls -A etc) == acks ]] || fail "it leaves $(ls -A etc)"
exec 9>etc/.acks.lock
flock 9
expect 1 "" "xidscope: cannot change etc/acks: another command is changing it" ack --ack etc/acks $gpu 79
exec 9>&-

# ---- what others may have written ----
refused() { # WHY: by the agent, by ack
	write_files
	expect 3 "XIDSCOPE UNKNOWN: the acknowledgements: cannot read etc/acks: $1" "" check --health plain
	expect 0 "" "xidscope: the acknowledgements: cannot read etc/acks: $1" check --style slurm --health plain
	expect 1 "" "xidscope: cannot *etc/acks: $1" ack --ack etc/acks $gpu 79
	expect 1 "" "xidscope: cannot read etc/acks: $1" ack --ack etc/acks --list
}
echo "* * 2099-01-01" >all
rm -f etc/acks
ln -s ../all etc/acks && refused "it is a symbolic link"
rm etc/acks && ln all etc/acks && refused "it has several hard links"
rm etc/acks && cp all etc/acks && chmod 666 etc/acks && refused "it does not belong to root, or everybody may write it"
rm etc/acks && mkdir etc/acks && refused "it is*"
rmdir etc/acks && mkfifo etc/acks && refused "it is*"
rm etc/acks
if ((EUID == 0)); then
	mkdir -m 700 closed
	as_nobody ack --force --ack closed/etc/acks $gpu 79 >out 2>err && fail "nobody acknowledges"
	[[ $(<err) == "xidscope: cannot change closed/etc/acks: Permission denied: run it as root, or name another file by --ack" ]] ||
		fail "to nobody it says '$(<err)'"
	cp all etc/acks && chown 65534 etc/acks && refused "it does not belong to root, or everybody may write it"
fi

((failed)) || echo "acknowledgements are kept, whatever others do"
exit $failed
