# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Counts, bytes, errors and times equal the kernel's own, and phases add up, for v3, v4.0, v4.1 and v4.2, the first and the
# last with nconnect, the last over IPv6. With one connection, sources compares these two. Calls of other programs than NFS are not
# counted: of v3's mounts, locks and ACLs.
nfs_server_start
agent_start
for mount in 3:4 4.0:1 4.1:1 4.2:4; do
	version=${mount%:*} nconnect=${mount#*:} server=127.0.0.1
	[[ $mount != 4.2:4 ]] || server='[::1]'
	nfs_mount "$version" "nconnect=$nconnect" /mnt/exact "$server"
	prepare_file /mnt/exact
	compare_point "$version-$nconnect-before"
	load /mnt/exact 1 32 randrw 4k
	ls -l /mnt/exact/absent 2>/dev/null || true
	mkdir -p /mnt/exact/dir && touch /mnt/exact/dir/file && mv /mnt/exact/dir/file /mnt/exact/dir/other
	rm -r /mnt/exact/dir
	flock /mnt/exact/load true
	ls -l /mnt/exact/load
	compare_point "$version-$nconnect-after"
	umount /mnt/exact
done
agent_stop
