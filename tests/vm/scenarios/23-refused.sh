# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Kernels whose types or events differ from those that the programs expect, or that refuse a program: the agent logs what
# is missing and uses what there is, by leaving out a hook or by the next source. sunrpc is loaded without the type of a
# tracepoint; each agent has a mount namespace of its own, with other files of the kernel.
modprobe sunrpc
if [[ ! -e /sys/kernel/btf/sunrpc ]]; then
	echo 'no source btf on this kernel' >skip
	exit 0
fi
module=$(modinfo -n sunrpc)
# Names of the same length, and no signature, which would be wrong.
LC_ALL=C sed -e 's/btf_trace_xprt_disconnect_done/btf_trace_xprt_disconnect_dome/' \
	-e 's/~Module signature appended~//' "$module" >/tmp/sunrpc-other.ko
LC_ALL=C sed 's/\x00rq_xmit_bytes_sent\x00/\x00rq_xmit_bytes_semt\x00/' /sys/kernel/btf/vmlinux >/tmp/types-bytes
LC_ALL=C sed 's/\x00tk_xprt\x00/\x00tk_xqrt\x00/' /sys/kernel/btf/vmlinux >/tmp/types-waits
nfs_remove
defer nfs_remove
insmod /tmp/sunrpc-other.ko
modprobe nfs
event=/sys/kernel/tracing/events/sunrpc/rpc_stats_latency/format
sed 's/execute/exexute/' $event >/tmp/other-format

# agent NAME CHANGE [OPTION...]: starts one in a folder of that name, after a change to its view of the kernel.
agent() {
	# shellcheck disable=SC2034 # for agent_start
	agent_under=(unshare -m sh -ec "$2; exec \"\$@\"" sh)
	agent_in "$1" --hooks rpc "${@:3}"
}
# refuse PROGRAM: makes the kernel refuse it until that process, $refuse, ends.
refuse() {
	rm -f /tmp/refuse
	/job/refuse "$1" >/tmp/refuse &
	refuse=$!
	wait_for 20 grep -q ready /tmp/refuse
}
# agent_refused PROGRAM NAME CHANGE [OPTION...]: the same on a kernel that refuses that program.
agent_refused() {
	refuse "$1"
	agent "${@:2}"
	kill $refuse
	wait $refuse || true
}
types() { echo "mount --bind /tmp/types-$1 /sys/kernel/btf/vmlinux"; }
agent disconnects :
agent bytes-event "$(types bytes); mount --bind /tmp/other-format $event"
agent waits "$(types waits)"
agent waits-tracefs "$(types waits); umount -l /sys/kernel/tracing /sys/kernel/debug"
agent_refused tp_disconnect event-disconnects : --source tracepoints
agent_refused tp_wakeup event-waits : --source tracepoints
# To the end, because an agent without the best source tries again.
refuse xprt_destroy
agent destroy :
refuse tp_client
agent event-clients "$(types bytes)"
refuse tp_latency
agent event-calls "$(types bytes)"
/job/xidscope doctor --json >doctor.json || true

nfs_server_start 2
nfs_mount 3 '' /mnt/refused
compare_points before
dd if=/dev/zero of=/mnt/refused/file bs=64k count=8 oflag=direct status=none
ls /mnt/refused/absent 2>/dev/null || true
compare_points after
agents_stop
