# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Two agents at once, one by the source btf and one by the source tracepoints, say the same of the same load: v3 and v4.2, first one call at a time, then
# with slots and sessions saturated.
# Where there is no source btf, the one agent's figures are compared with the kernel's own only, while another observer, whose
# turn is before its own, keeps it from seeing the end of a call in time.
sources=tracepoints
[[ ! -e /sys/kernel/btf/vmlinux ]] || modprobe sunrpc
[[ ! -e /sys/kernel/btf/sunrpc ]] || sources='btf tracepoints'
echo "$sources" >sources
modprobe nfs
nfs_server_start
if [[ $sources == tracepoints ]]; then
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
	observer=/sys/kernel/tracing/events/sunrpc/rpc_stats_latency/trigger
	echo stacktrace >"$observer"
fi
declare -A agents
server=$(netns_client sources 10.0.8)
tc -n sources qdisc add dev eth0 root netem delay 3ms
# Source tracepoints first: what the other's programs take is then not between the kernel's look at the clock and its own.
for source in ${sources#btf } ${sources% tracepoints}; do
	[[ ! -d $source ]] || continue
	mkdir "$source"
	cd "$source"
	agent_start --source "$source"
	agents[$source]=$agent
	wait_for 20 grep -q "attached to sunrpc, source $source" agent.log
	cd ..
done
# point NAME: what each says when the client is at rest.
point() {
	for source in $sources; do
		agent=${agents[$source]}
		cd "$source"
		compare_point "$1"
		cd ..
	done
}
slot_limit 4
echo 4 >/sys/module/nfs/parameters/max_session_slots
NETNS=sources nfs_mount 3 '' /mnt/three "$server"
NETNS=sources nfs_mount 4.2 '' /mnt/four "$server"
prepare_file /mnt/three
prepare_file /mnt/four
point before
load /mnt/three 2 1 randrw 4k
load /mnt/four 2 1 randrw 4k
point single
load /mnt/three 4 32 randrw 4k
load /mnt/four 4 32 randrw 4k
ls /mnt/three/absent /mnt/four/absent 2>/dev/null || true
point after
umount /mnt/three /mnt/four
slot_limit 65536
echo 64 >/sys/module/nfs/parameters/max_session_slots
for agent in "${agents[@]}"; do agent_stop; done
[[ $sources != tracepoints ]] || echo '!stacktrace' >"$observer"
ip netns delete sources
