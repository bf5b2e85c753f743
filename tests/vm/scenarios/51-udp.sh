# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# NFS over UDP, where the kernel has it. (None of Debian's has: they are built with CONFIG_NFS_DISABLE_UDP_SUPPORT.)
nfs_server_start
echo 'udp 2049' >/proc/fs/nfsd/portlist 2>/dev/null || true
if ! nfs_mount 3 proto=udp,mountproto=tcp /mnt/udp; then
	echo 'this kernel or server has no NFS over UDP' >skip
	exit 0
fi
agent_start
prepare_file /mnt/udp
compare_point before
load /mnt/udp 2 8 randrw 4k
compare_point after
agent_stop
