# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two agents at once, with the sources btf and tracepoints, report the same of the same load: v3 and v4.2, first one call
# at a time, then with slots and sessions saturated.
# Without the source btf, the one agent's figures are compared with the kernel's own only, while another observer, which
# runs before it, delays the end of each call.
sources=tracepoints
[[ ! -e /sys/kernel/btf/vmlinux ]] || modprobe sunrpc
! has_types || sources='btf tracepoints'
echo "$sources" >sources
modprobe nfs
nfs_server_start
if [[ $sources == tracepoints ]]; then
	observer=/sys/kernel/tracing/events/sunrpc/rpc_stats_latency/trigger
	put_value "$observer" stacktrace
	defer put_value "$observer" '!stacktrace'
fi
server=$(netns_client sources 10.0.8)
tc -n sources qdisc add dev eth0 root netem delay 3ms
# Source tracepoints first: what the other's programs take is then not between the kernel's look at the clock and its own.
for source in ${sources#btf } ${sources% tracepoints}; do
	[[ ! -d $source ]] || continue
	agent_in "$source" --source "$source"
	grep -q "attached to sunrpc, source $source" "$source/agent.log"
done
limited_mounts sources "$server"
compare_under_load
agents_stop
