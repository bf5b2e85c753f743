# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run refuses, in one line and with exit status 2, whatever is at the path of a file that it writes and is not a regular file
# with one link, and leaves it as it is.
die() {
	echo "$*"
	exit 1
}
observe=(--hooks gpu --duration 0.3)

# expect CODE STDOUT STDERR OPTION...: what run prints with these options matches the patterns.
# shellcheck disable=SC2053 # patterns
expect() {
	local code=$1 out=$2 err=$3 got=0
	shift 3
	/job/xidscope run "$@" >out 2>err || got=$?
	[[ $got == "$code" ]] || die "'$*' ends with $got, not $code: $(<err)"
	[[ $(<out) == $out ]] || die "'$*' prints '$(<out)', not '$out'"
	[[ $(<err) == $err ]] || die "'$*' prints the error '$(<err)', not '$err'"
}

# ---- refused at the start ----
mkdir folder.prom
mkfifo fifo.prom
touch victim linked
ln -s victim symlink.prom
ln -s absent dangling.prom
ln linked hardlink.prom
mknod device.prom b 1 0
perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, sockaddr_un("socket.prom")) or die'
mknod null.prom c 1 3 # like /dev/null, which a mistake would destroy
rule='name a regular file with one link, or one that does not exist'
declare -A why=([folder]='it is a folder' [fifo]='it is a device, a FIFO or a socket' [symlink]='it is a symbolic link'
	[dangling]='it is a symbolic link' [hardlink]='it has several hard links' [device]='it is a device, a FIFO or a socket'
	[socket]='it is a device, a FIFO or a socket' [null]='it is a device, a FIFO or a socket')
listing() { stat -c '%n %i %f %h' ./*.prom victim linked; }
listing >before
for kind in "${!why[@]}"; do
	for option in --output --state --events; do
		other=(--output good.prom)
		[[ $option != --output ]] || other=()
		expect 2 "" "xidscope: error: $option $kind.prom: ${why[$kind]}; $rule" "${other[@]}" $option "$kind.prom" "${observe[@]}"
	done
done
expect 2 "" "xidscope: error: --state $PWD/: it is a folder; *" --output good.prom --state "$PWD/" "${observe[@]}"
for options in "--state good.prom" "--events good.prom" "--state both --events both"; do
	# shellcheck disable=SC2086 # several words
	expect 2 "" "xidscope: * and * need different files; see xidscope run --help" --output good.prom $options "${observe[@]}"
done
listing | diff before - || die "what was there has changed"
[[ ! -e absent && ! -e good.prom ]] || die "something was made, or is gone"
[[ -z $(find . -name '.*.lock' -o -name '.*.tmp' -o -name '*.damaged') ]] || die "a lock or a temporary file is left"

# ---- standard output ----
expect 0 "*# EOF*" "*" --output - --events none "${observe[@]}"
{ /job/xidscope run --output - --events none "${observe[@]}" 2>err || true; } | head -c 100 >out
[[ $(head -c 6 out) == '# TYPE' ]] || die "a pipe got '$(<out)'"

# A limit of files' sizes costs the files that it forbids, and does not end the agent.
got=0
limited=$(ulimit -f 0 && exec /job/xidscope run --output limited.prom --events none --hooks rpc --source mountstats --duration 0.3 2>&1) || got=$?
[[ $got == 1 && $limited == *"cannot write limited.prom: File too large;"* ]] || die "with a limit it ends with $got: $limited"

# Where the caller has closed standard error, no file takes its number, and messages do not end up in it.
/job/xidscope run --output closed.prom --events none --hooks rpc --source mountstats --health closed.json --duration 30 2>&- &
agent=$!
wait_for 20 test -s closed.json -a -e closed.prom
[[ $(head -c 1 closed.json) == '{' ]] || die "the health file is $(<closed.json)"
kill -TERM $agent
wait $agent

# Nobody reads standard error: what is lost is counted, and the agent goes on.
mkfifo full
exec {held}<>full
timeout 1 head -c 1M /dev/zero >full || true
timeout 60 /job/xidscope run --output full.prom --interval 0.5 --duration 2 --keep 2>full
lost=$(sed -n 's/^xidscope_events_dropped_total{reason="messages"} //p' full.prom)
((lost >= 3)) || die "$lost messages lost"
exec {held}<&-
rm -r full ./*.prom
