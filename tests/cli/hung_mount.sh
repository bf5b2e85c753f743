#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, on the running kernel, that the agent finds a mount that does not answer and ends in time; that the process which asks,
# and sleeps so that nothing can end it, stays the only one, and is gone when the file system answers; that the agent refuses to
# write files there and does not wait for acknowledgements; and that nothing waits for such a mount of a user, over a mount of the node or
# behind a link. Needs root and /dev/fuse: skips otherwise.
# shellcheck disable=SC2053 # what is wanted is a pattern
set -uo pipefail
. "$(dirname "$0")/lib.sh"

if ((EUID)) || [[ ! -e /dev/fuse ]]; then
	echo "skip: root and /dev/fuse are needed"
	exit 0
fi
mkdir mute
unshare -m true 2>/dev/null || { echo "skip: no mount namespace" && exit 0; }
if [[ ! ${own_mounts:-} ]]; then # nothing stays mounted, whatever happens; and process 1, whose mounts the agent looks at, is this one
	cd / && rm -rf "$dir"
	own_mounts=1 exec unshare --mount --pid --fork --kill-child --mount-proc --propagation private "$top/tests/cli/hung_mount.sh"
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

agent=''
agent_start() { # OPTION...
	"$program" run --output agent.prom --events none --hooks rpc --source mountstats --health health --ack none "$@" 2>said &
	agent=$!
	within 100 test -e health || fail "the agent writes no health file: $(<said)"
}
agent_stop() {
	kill -TERM $agent
	within 100 ended $agent || fail "the agent does not end: $(<said)"
	wait $agent
}
has() { [[ $("$program" check --health health 2>&1) == $1 ]]; } # PATTERN
asking() { pgrep -x xidscope-mount | while read -r pid; do readlink "/proc/$pid/cwd"; done | wc -l; }
mkdir -p above/node
mount -t tmpfs node above/node
agent_start --mount "$dir/mute" --mount "$dir/above/node"
within 100 has "XIDSCOPE OK: *" || fail "a mount that answers: $("$program" check --health health)"
rm answer
begin=$SECONDS
within 450 has "XIDSCOPE CRITICAL: Mount $dir/mute hangs: the server does not answer. *" || fail "it is not found: $("$program" check --health health)"
took=$((SECONDS - begin))
pid=$(pgrep -x xidscope-mount | tail -n 1)
[[ $pid && $(sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat") == D ]] || fail "the process that asks is not left in D: the test proves nothing"
held=("/proc/$pid/fd/"*)
((${#held[@]} == 2)) || fail "it holds ${held[*]}"
sleep 33
(($(asking) == 1)) || fail "$(asking) processes ask"
# What a user mounts over a mount of the node, or over a folder on the way to it, is neither.
for over in above/node above; do
	mute "$over" nothing 65534
	sleep 33
	has "XIDSCOPE CRITICAL: Mount $dir/mute hangs: * | *" || fail "with a user's mount over $over: $("$program" check --health health)"
	unmute "$over"
done
agent_stop # a process in D stays
: >answer
none_ask() { (($(asking) == 0)); }
within 100 none_ask || fail "the process that asks stays when the file system answers"
rm answer
for option in --output --events --health --xid-policy; do
	for file in mute/file.prom "$dir/mute/folder/file.prom"; do
		expect 2 "" "xidscope: error: $option $file is on mute, which may stop answering; name a file in a local folder" \
			run --output agent.prom --events none --health none --hooks rpc --source mountstats $option "$file"
	done
done
# Acknowledgements there are read by a process that can wait; also where that is mounted after the start.
mkdir acks
for file in mute/folder/acks acks/file; do
	agent_start --interval 0.1 --ack "$file"
	[[ $file != acks/* ]] || mute acks
	says_so() { grep -qx "xidscope: warning: the acknowledgements: cannot read $file: its file system does not answer; .*" said; }
	within 200 says_so || fail "it says $(<said)"
	kill -TERM $agent
	within 20 ended $agent || fail "the agent waits for $file"
	wait $agent || fail "it ends with $?"
	[[ $file != acks/* ]] || unmute acks
done
: >answer

# The owner of the folder of the metrics file can put a link to such a mount there: nothing of root's waits for that.
mkdir elsewhere textfiles
mute elsewhere
ends_soon() { # COMMAND...
	"$@" &>ended &
	within 100 ended $! || fail "a link to a mount that hangs stops $*"
}
for name in xidscope-job.prom{,.tmp}; do
	ln -s "$dir/elsewhere/file" "textfiles/$name"
	for context in epilog prolog; do
		SLURM_SCRIPT_CONTEXT=${context}_slurmd XIDSCOPE_TEXTFILES=textfiles ends_soon "$top/deploy/slurm/xidscope-job"
	done
done
ln -s "$dir/elsewhere/file" textfiles/health
ends_soon "$program" check --health textfiles/health
ends_soon "$program" ack --ack acks --health textfiles/health c1:00.0 79
unmute elsewhere

((failed)) || echo "a mount that hangs is found in $took s, and its process left alone"
exit $failed
