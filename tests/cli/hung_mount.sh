#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, on the running kernel, that a mount that does not answer fails the check within two seconds; that the process which
# asks, and sleeps so that nothing can end it, is never waited for and stays the only one, however often and from how many
# checks it is asked; that it is gone when the file system answers; that the agent refuses to write files there and reads no
# acknowledgements; and that nothing waits for such a mount of a user, over a mount of the node or behind a link. Needs root
# and /dev/fuse: skips otherwise.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

if ((EUID)) || [[ ! -e /dev/fuse ]]; then
	echo "skip: root and /dev/fuse are needed"
	exit 0
fi
mkdir mute
unshare -m true 2>/dev/null || { echo "skip: no mount namespace" && exit 0; }
if [[ ! ${own_mounts:-} ]]; then # nothing stays mounted, whatever happens
	cd / && rm -rf "$dir"
	own_mounts=1 exec unshare -m --propagation private "$top/tests/cli/hung_mount.sh"
fi
# mute FOLDER [ANSWER [USER]]: mounts it there; the program is $fuse.
mute() {
	: >mounted
	"$top/tests/cli/mute_fuse.py" "$dir/$1" "$dir/${2:-nothing}" "${@:3}" >mounted 2>&1 8>&- &
	fuse=$!
	within 100 test -s mounted -o ! -e "/proc/$fuse"
}
unmute() { # FOLDER: its end lets go of who asks
	umount -l "$1"
	kill $fuse 2>/dev/null
}
: >answer
mute mute answer
server=$fuse
trap 'umount -l "$dir"/{mute,above,above/node,elsewhere} 2>/dev/null; kill $server $fuse 2>/dev/null; rm -rf "$dir"' EXIT
[[ -s mounted ]] || { echo "skip: FUSE cannot be mounted here" && exit 0; }

echo '# EOF' >metrics
asking() { pgrep -x xidscope-mount | while read -r pid; do readlink "/proc/$pid/cwd"; done | wc -l; }
# check CODE [OPTION...]: its output must end although a process may be left.
check() {
	local got=0 begin now
	touch metrics
	begin=$(date +%s%3N)
	output=$("$program" check --file metrics --ack none --mount "$dir/mute" "${@:2}") || got=$?
	now=$(date +%s%3N)
	[[ $got == "$1" ]] || fail "it ends with $got, not $1: $output"
	times+=($((now - begin)))
}
times=()
check 0
rm answer
times=()
check 2
[[ $output == "XIDSCOPE CRITICAL: Mount $dir/mute hangs: the server does not answer: "* ]] || fail "it prints '$output'"
pid=$(pgrep -x xidscope-mount | tail -n 1)
[[ $pid && $(sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat") == D ]] || fail "the process that asks is not left in D: the test proves nothing"
held=("/proc/$pid/fd/"*)
((${#held[@]} == 3)) || fail "it holds ${held[*]}"
[[ $(readlink "/proc/$pid/ns/mnt") == "$(readlink /proc/self/ns/mnt)" ]] || fail "it holds all mounts of the node"
before=$(asking)
for _ in {1..5}; do check 2; done
others=()
for _ in {1..4}; do
	(check 2 && exit $failed) &
	others+=($!)
done
for other in "${others[@]}"; do wait "$other" || failed=1; done
(($(asking) == before)) || fail "of $before processes that ask there are $(asking)"
# Where its caller ignores SIGCHLD, the number of a process that has ended would soon be another's, and that one killed.
/usr/bin/python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' \
	"$program" check --file metrics --ack none --mount "$dir/mute" --rule mount_hung=fail:3 >ignored &
other=$!
sleep 1.5
ignored=$(sed -n 's/^SigIgn:\t/0x/p' "/proc/$other/status")
((ignored && !(ignored & 1 << 16))) || fail "it ignores signals $ignored"
wait $other
check 0 --rule mount_hung=off --rule mount_unusable=off
for option in --output --events --heartbeat --xid-policy; do
	for file in mute/file "$dir/mute/folder/file"; do
		expect 2 "" "xidscope: error: $option $file is on mute, which may stop answering; name a file in a local folder" \
			run --output agent.prom --events none --hooks rpc --source mountstats $option "$file"
	done
done
expect 0 "" "xidscope: warning: the acknowledgements $dir/mute/folder/acks are on mute, *" \
	run --output agent.prom --events none --hooks rpc --source mountstats --duration 0.3 --ack "$dir/mute/folder/acks"
# Also where that is mounted after the start: the event loop would wait for it, and nothing could end it.
mkdir acks
for folder in acks "$dir/acks"; do
	"$program" run --output agent.prom --events none --hooks rpc --source mountstats --interval 0.1 --ack "$folder/file" 2>said &
	agent=$!
	within 100 test -e agent.prom
	mute acks
	sleep 1
	kill -TERM $agent
	within 20 ended $agent || fail "the agent waits for $folder, on which there is a mount that hangs"
	grep -qx "xidscope: warning: the acknowledgements $folder/file are on mute, .*" said || fail "it says $(<said)"
	unmute acks
	wait $agent || fail "it ends with $?"
done
check 2 --rule mount_hung=fail:0.3
slowest=$(printf '%s\n' "${times[@]}" | sort -n | tail -n 1)
# shellcheck disable=SC2119
median=$(printf '%s\n' "${times[@]}" | sort -n | sed -n "$((${#times[@]} / 2 + 1))p")
((median < 2000)) || fail "it answers in $median ms"
: >answer
fewer_ask() { (($(asking) < before)); }
within 100 fewer_ask || fail "the process that asks stays when the file system answers"
check 0

# What a user has mounted over a mount of the node, or over a folder on the way to it, is neither.
mkdir -p above/node
mount -t tmpfs node above/node
check 0 --mount "$dir/above/node"
rm answer
for over in above/node above; do
	mute "$over" answer 65534
	check 2 --mount "$dir/above/node" --mount "$dir/absent"
	[[ $output == *"Mount $dir/mute hangs"* && $output != *"Mount $dir/above"* ]] || fail "with a user's mount over $over: $output"
	unmute "$over"
done
: >answer
# Nor is one that the user mounts between the look at the mounts and the question: here that one waits for another check's.
exec 8>"/run/xidscope/mount-$(mountpoint -d above/node)"
flock 8
(check 0 --mount "$dir/above/node" --rule mount_hung=fail:5 && exit $failed) 8>&- &
other=$!
sleep 1
mute above/node nothing 65534
exec 8>&-
wait $other || failed=1
unmute above/node

# The owner of the folder of the metrics file can put a link to such a mount there: nothing of root's waits for that.
mkdir elsewhere textfiles
mute elsewhere
ends_soon() { # COMMAND...
	"$@" &>ended &
	within 50 ended $! || fail "a link to a mount that hangs stops $*"
}
for name in xidscope-job.prom{,.tmp}; do
	ln -s "$dir/elsewhere/file" "textfiles/$name"
	for context in epilog prolog; do
		SLURM_SCRIPT_CONTEXT=${context}_slurmd XIDSCOPE_TEXTFILES=textfiles ends_soon "$top/deploy/slurm/xidscope-job"
	done
done
ln -s "$dir/elsewhere/file" textfiles/xidscope.prom
ends_soon "$program" check --file textfiles/xidscope.prom --heartbeat textfiles/xidscope.prom
ends_soon "$program" check --file textfiles/xidscope.prom
ends_soon "$program" ack --ack acks --file textfiles/xidscope.prom c1:00.0 79
unmute elsewhere

((failed)) || echo "a mount that hangs is found in $median ms (slowest $slowest ms), and its process left alone"
exit $failed
