# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A sunrpc without types: an agent that has them from a file of its option, one from the file at the module's own place, one
# with the file of another build, and one on trace events report the same load. First one call at a time, then with slots
# and sessions saturated.
types=/usr/lib/modules/$(uname -r)/types
modprobe nfs
if [[ -e /sys/kernel/btf/sunrpc || ! -e $types ]]; then
	echo 'no sunrpc without types here, or no file that has them' >skip
	exit 0
fi
nfs_server_start
server=$(netns_client types 10.0.9)
tc -n types qdisc add dev eth0 root netem delay 3ms
cp "$types/sunrpc.ko" /tmp/cut.ko
truncate -s 20k /tmp/cut.ko
LC_ALL=C sed 's/\x00\.BTF\x00/\x00.XTF\x00/' "$types/sunrpc.ko" >/tmp/untyped.ko
for file in "$types"/{sunrpc,other}.ko /tmp/{cut,untyped,absent}.ko /etc/passwd; do
	/job/xidscope doctor --json --sunrpc-btf "$file" >"doctor-$(basename "$file").json" || true
done
/job/xidscope doctor --json >doctor-none.json || true
agent_in events --source tracepoints
agent_in other --sunrpc-btf "$types/other.ko" --hooks rpc
agent_in file --sunrpc-btf "$types/sunrpc.ko"
/job/xidscope trace --hooks rpc --sunrpc-btf "$types/sunrpc.ko" --duration 1 >trace.txt 2>trace.log
modprobe nfsv4
for module in sunrpc nfsv4; do
	types_at_place "$module" "$types/$module.ko"
done
/job/xidscope doctor --json >doctor-place.json || true
agent_in place
limited_mounts types "$server"
compare_under_load
agents_stop
