# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A sunrpc without types, which the kernel's own is made here, and whose file comes after the agent: first another module's or
# build's, then its own. Source btf takes over from tracepoints, and counts from 0 on, exactly: the kernel accepts the programs that
# read by such a file.
types=/usr/lib/modules/$(uname -r)/types
mine=$types/sunrpc.ko other=$types/other.ko
if [[ ! -e $types ]]; then
	modprobe sunrpc
	if [[ ! -e /sys/kernel/btf/sunrpc ]]; then
		echo 'this kernel has no types of sunrpc' >skip
		exit 0
	fi
	mine=$(modinfo -n sunrpc) other=$(modinfo -n lockd)
	# No section of that name, and no signature, which would be wrong.
	LC_ALL=C sed -e 's/\x00\.BTF\x00/\x00.XTF\x00/' -e 's/~Module signature appended~//' "$mine" >/tmp/sunrpc.ko
	defer nfs_remove
	nfs_remove
	insmod /tmp/sunrpc.ko
fi
modprobe nfs
[[ ! -e /sys/kernel/btf/sunrpc ]]
nfs_server_start
nfs_mount 3 '' /mnt/later
nfs_mount 4.2 '' /mnt/four
prepare_file /mnt/four
agent_start --hooks rpc
prepare_file /mnt/later
compare_point before
types_at_place sunrpc "$other"
wait_for 90 grep -q 'another build' agent.log
types_at_place sunrpc "$mine"
wait_for 90 grep -q 'attached to sunrpc, source btf' agent.log
compare_point middle
load /mnt/later 2 8 randrw 4k
load /mnt/four 2 8 randrw 4k
ls /mnt/later/absent 2>/dev/null || true
compare_point after
agent_stop
