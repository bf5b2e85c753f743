# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The source mountstats counts what mountstats counts, to the last call and byte, with mounts that share a superblock, end
# and return; a second agent, in source tracepoints, takes bytes and slots from there, too; and doctor names the source that
# an agent would choose here.
modprobe nfs
nfs_server_start
agent_in events --source tracepoints
both() { # both NAME: a point of comparison for each agent
	compare_points "$1"
	agent=$polled
	compare_point "$1"
}
! has_types || touch types
agent_start --source mountstats
polled=$agent
for mount in 3:1 4.2:4; do
	version=${mount%:*} nconnect=${mount#*:}
	nfs_mount "$version" "nconnect=$nconnect" /mnt/polled
	prepare_file /mnt/polled
	both "$version-before"
	load /mnt/polled 2 8 randrw 4k
	ls -l /mnt/polled/absent 2>/dev/null || true
	defer unmount /mnt/again
	mkdir /mnt/again && mount --bind /mnt/polled /mnt/again
	agent_write
	umount /mnt/again && rmdir /mnt/again
	/job/xidscope doctor --json >"$version-doctor.json" || true
	both "$version-after"
	cat /sys/kernel/sunrpc/xprt-switches/*/xprt-*/{dstaddr,xprt_info} >"$version.sysfs" 2>&1 || true
	umount /mnt/polled
	agent_write "$version-gone"
done
agent_stop
agents_stop
