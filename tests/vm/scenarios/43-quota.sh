# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A user's quota is used up, where the kernel's tmpfs has quotas, and a file becomes larger than its file system can have it: one
# whose blocks ext4 lists as ext2 did ends at 16 GiB. Session, event and finding name the error.
nfs_server_start
agent_start --interval 1 --events events.json
# exported NAME MOUNT-ARGUMENT...: a file system of its own, that clients have at /mnt/NAME.
exported() {
	mkdir -p "/export/$1" "/mnt/$1"
	mount "${@:2}" "/export/$1" || return
	defer umount "/export/$1"
	chmod 1777 "/export/$1"
	exportfs -i -o rw,no_root_squash,insecure,no_subtree_check,fsid=$((++exports + 10)) "*:/export/$1"
	defer exportfs -u "*:/export/$1"
	defer unmount "/mnt/$1"
	mount -t nfs -o vers=4.2 "127.0.0.1:/$1" "/mnt/$1"
}
# fails NAME COMMAND...: six times, while a session looks.
fails() {
	trace_begin "$1"
	for _ in {1..6}; do
		! "${@:2}" 2>>"$1.dd" || false
		sleep 0.2
	done
	trace_end
	wait_for 20 eval "[[ \$(grep -c '\"kind\":\"nfs_errors\"' events.json) -ge $exports ]]"
	/job/xidscope check --json --health health.json >"$1.check" || true
}
exports=0
truncate -s 50M disk
busybox mke2fs -F disk >/dev/null
exported large -t ext4 -o loop disk
fails large dd if=/dev/zero of=/mnt/large/file bs=4k count=1 seek=$((20 << 18)) oflag=direct conv=notrunc
if exported quota -t tmpfs -o usrquota,usrquota_block_hardlimit=1M tmpfs; then
	fails quota nobody dd if=/dev/zero of=/mnt/quota/file bs=256k count=8 oflag=direct conv=notrunc
fi
agent_stop
