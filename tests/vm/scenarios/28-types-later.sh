# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A sunrpc without types, whose file comes after the agent: first that of another build, then its own. Source btf takes over
# from tracepoints, and counts from 0 on.
types=/usr/lib/modules/$(uname -r)/types
modprobe nfs
if [[ -e /sys/kernel/btf/sunrpc || ! -e $types ]]; then
	echo 'no sunrpc without types here, or no file that has them' >skip
	exit 0
fi
nfs_server_start
nfs_mount 3 '' /mnt/later
agent_start --hooks rpc
prepare_file /mnt/later
compare_point before
types_at_place sunrpc "$types/other.ko"
wait_for 90 grep -q 'another build' agent.log
types_at_place sunrpc "$types/sunrpc.ko"
wait_for 90 grep -q 'attached to sunrpc, source btf' agent.log
compare_point middle
dd if=/mnt/later/load of=/dev/null bs=64k count=16 iflag=direct status=none
ls /mnt/later/absent 2>/dev/null || true
compare_point after
agent_stop
