# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The kernel's own sunrpc without its types, which are in a file at its place: the kernel accepts the programs that read by
# such a file, and they are exact.
if [[ ! -e /sys/kernel/btf/vmlinux ]] || { modprobe sunrpc && [[ ! -e /sys/kernel/btf/sunrpc ]]; }; then
	echo 'this kernel has no types of sunrpc' >skip
	exit 0
fi
module=$(modinfo -n sunrpc)
# No section of that name, and no signature, which would be wrong.
LC_ALL=C sed -e 's/\x00\.BTF\x00/\x00.XTF\x00/' -e 's/~Module signature appended~//' "$module" >/tmp/sunrpc.ko
defer nfs_remove
nfs_remove
insmod /tmp/sunrpc.ko
[[ ! -e /sys/kernel/btf/sunrpc ]]
types_at_place sunrpc "$module"
modprobe nfs
nfs_server_start
agent_start
wait_for 20 grep -q 'attached to sunrpc, source btf' agent.log
nfs_mount 3 '' /mnt/three
nfs_mount 4.2 '' /mnt/four
prepare_file /mnt/three
prepare_file /mnt/four
compare_point before
load /mnt/three 2 8 randrw 4k
load /mnt/four 2 8 randrw 4k
compare_point after
agent_stop
