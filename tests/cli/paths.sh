#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that run refuses, in one line and with exit status 2, whatever is at the path of a file that it writes and is not a
# regular file with one link, and leaves it as it is; and that it outlives what others put beside its files.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
observe=(--hooks gpu --duration 0.3)
((EUID == 0)) || { echo "only root may observe faults" && exit 77; }

# ---- refused at the start ----
mkdir folder.prom
mkfifo fifo.prom
touch victim linked
ln -s victim symlink.prom
ln -s absent dangling.prom
ln linked hardlink.prom
mknod device.prom b 1 0
/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket.prom")'
mknod null.prom c 1 3 # like /dev/null, which a mistake would destroy
rule='name a regular file with one link, or one that does not exist'
declare -A why=([folder]='it is a folder' [fifo]='it is a device, a FIFO or a socket' [symlink]='it is a symbolic link'
	[dangling]='it is a symbolic link' [hardlink]='it has several hard links' [device]='it is a device, a FIFO or a socket'
	[socket]='it is a device, a FIFO or a socket' [null]='it is a device, a FIFO or a socket')
listing() { stat -c '%n %i %f %h' ./*.prom victim linked; }
listing >before
for kind in "${!why[@]}"; do
	for option in --output --state --events --heartbeat; do
		other=(--output good.prom)
		[[ $option != --output ]] || other=()
		[[ $option != --events || $kind != null ]] || continue
		expect 2 "" "xidscope: error: $option $kind.prom: ${why[$kind]}; $rule" run "${other[@]}" $option "$kind.prom" "${observe[@]}"
	done
done
expect 2 "" "xidscope: error: --state $dir/: it is a folder; *" run --output good.prom --state "$dir/" "${observe[@]}"
for options in "--state good.prom" "--events good.prom" "--heartbeat good.prom" "--state both --events both" "--state both --heartbeat both"; do
	# shellcheck disable=SC2086 # several words
	expect 2 "" "xidscope: * and * need different files; see xidscope run --help" run --output good.prom $options "${observe[@]}"
done
listing | diff before - || fail "what was there has changed"
[[ ! -e absent && ! -e good.prom ]] || fail "something was made, or is gone"
[[ -z $(find . -name '.*.lock' -o -name '.*.tmp' -o -name '*.damaged') ]] || fail "a lock or a temporary file is left"

# ---- devices and standard output as streams ----
expect 0 "" "*started*" run --output good.prom --events null.prom "${observe[@]}"
listing | diff before - || fail "the device has changed"
expect 0 "*# EOF*" "*" run --output - --events none "${observe[@]}"
"$program" run --output - --events none "${observe[@]}" 2>err | head -c 100 >out
[[ $(head -c 6 out) == '# TYPE' ]] || fail "a pipe got '$(<out)'"

# ---- put there meanwhile ----
plant() { # PATH: what blocks, truncates or follows if it is opened carelessly
	case $1 in
	*1) mkfifo "$2" ;;
	*2) ln -s "$dir/victim" "$2" ;;
	*3) ln victim "$2" ;;
	esac
}
echo precious >victim
mkdir files
for name in x.prom .x.prom.tmp .x.prom.lock state .state.tmp .state.lock events; do
	for kind in 1 2 3; do
		rm -rf files/* files/.[!.]*
		"$program" run --output files/x.prom --state files/state --events files/events --hooks gpu --interval 0.1 \
			--accept-user-kmsg 2>err &
		agent=$!
		within 50 test -e files/x.prom -a -e files/state
		plant $kind files/planted
		mv -fT files/planted "files/$name"
		sleep 0.5
		kill -TERM $agent
		begin=$EPOCHREALTIME
		wait $agent || fail "with $kind at $name the agent ends with $?: $(<err)"
		took=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
		((took < 1000)) || fail "with $kind at $name the agent ends after $took ms"
		[[ $(<victim) == precious ]] || fail "with $kind at $name the victim is '$(<victim)'"
		(($(grep -c 'cannot write' err) <= 1)) || fail "with $kind at $name: $(<err)"
	done
done

# A limit of files' sizes costs the files that it forbids, and does not end the agent.
got=0
limited=$(ulimit -f 0 && exec "$program" run --output limited.prom --events none --hooks rpc --source mountstats --duration 0.3 2>&1) || got=$?
[[ $got == 1 && $limited == *"cannot write limited.prom: File too large;"* ]] || fail "with a limit it ends with $got: $limited"

# Where the caller has closed standard error, no file takes its number, and messages do not end up in it.
"$program" run --output closed.prom --events none --hooks rpc --source mountstats --heartbeat beat --duration 30 2>&- &
agent=$!
within 100 test -s beat -a -e closed.prom
[[ $(wc -c <beat) == 21 ]] || fail "the heartbeat is $(<beat)"
kill -TERM $agent
wait $agent
! "$program" xid 79 >&- 2>err || fail "a report without an output is fine"

((failed)) || echo "only regular files with one link are written"
exit $failed
