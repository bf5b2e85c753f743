# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# A sunrpc without types: an agent that has them from a file, one that has the file of another build, and one on trace
# events report the same load. First one call at a time, then with slots and sessions saturated.
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
for file in "$types/sunrpc.ko" "$types/other.ko" /tmp/cut.ko /tmp/untyped.ko /tmp/absent.ko /etc/passwd; do
	/job/xidscope doctor --json --sunrpc-btf "$file" >"doctor-$(basename "$file").json" || true
done
agent_in events --source tracepoints
agent_in other --sunrpc-btf "$types/other.ko" --hooks rpc
agent_in file --sunrpc-btf "$types/sunrpc.ko"
slot_limit 4
session_limit 4
NETNS=types nfs_mount 3 '' /mnt/three "$server"
NETNS=types nfs_mount 4.2 '' /mnt/four "$server"
prepare_file /mnt/three
prepare_file /mnt/four
compare_points before
load /mnt/three 2 1 randrw 4k
load /mnt/four 2 1 randrw 4k
compare_points single
load /mnt/three 4 32 randrw 4k
load /mnt/four 4 32 randrw 4k
ls /mnt/three/absent /mnt/four/absent 2>/dev/null || true
compare_points after
agents_stop
