# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An export that is removed, and soft mounts whose server does not answer for a while. Sessions, events
# and findings name the error and the mount.
nfs_server_start
agent_start --interval 1 --events events.json
# Without any export the server would refuse the client altogether.
mkdir -p /other-export
mount -t tmpfs tmpfs /other-export
defer umount /other-export
exportfs -i -o rw,insecure,no_subtree_check,fsid=2 '*:/other-export'
defer exportfs -u '*:/other-export'
nfs_mount 3 '' /mnt/project
echo kept >/mnt/project/kept
trace_begin stale
exportfs -u '*:/export'
exportfs -f
for _ in {1..20}; do
	! timeout -s KILL 20 dd if=/mnt/project/kept of=/dev/null iflag=direct || false
	sleep 0.1
done 2>stale-dd.txt
trace_end
wait_for 20 says events.json '"nfs_errors"'
/job/xidscope check --json --health health.json >stale.check || true
umount -f -l /mnt/project
exportfs -i -o rw,no_root_squash,insecure,no_subtree_check,fsid=0 '*:/export'
own_addresses 10.0.9.1
for version in 4.2 3; do
	prepare_file /export # by the soft mount, a slow server's writes would fail
	nfs_mount "$version" soft,timeo=20,retrans=1 /mnt/soft 10.0.9.1
	trace_begin "soft-$version"
	load /mnt/soft 40 4 randrw 64k --continue_on_error=all &
	loader=$!
	wait_for 60 reads 20
	block -d 10.0.9.1
	sleep 30
	/job/xidscope check --json --health health.json >"soft-$version.check" || true
	unblock -d 10.0.9.1
	wait_for 20 timeout -s KILL 20 dd if=/dev/zero of=/mnt/soft/data bs=64k count=16 oflag=direct
	wait "$loader" || true
	sleep 3
	trace_end
	umount -f -l /mnt/soft
done
agent_write last
agent_stop
