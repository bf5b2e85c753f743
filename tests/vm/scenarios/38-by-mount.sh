# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The calls of each of four mounts of one server, of which two share a superblock, are what mountstats has of each, in every
# source, while somebody else reads mountstats as well; also when the mounts end and come back in another order, so that the
# kernel gives one's client the number of another's. Folders of one superblock share a series, until one is alone.
nfs_server_start
agent_in default
agent_in tracepoints --source tracepoints
agent_in mountstats --source mountstats
mount_each() { # mount_each ORDER...
	local name
	for name; do
		case $name in
			three) nfs_mount 3 '' /mnt/three ;;
			same) nfs_mount 3 '' '/mnt/the same' ;;
			four) nfs_mount 4.2 '' /mnt/four ;;
			private) nfs_mount 4.2 nosharecache /mnt/private ;;
		esac
	done
}
work() { # work DIR MB FILES
	dd if=/dev/zero of="$1/file" bs=1M count="$2" conv=fsync status=none
	dd if="$1/file" of=/dev/null bs=1M iflag=direct status=none
	for ((i = 0; i < $3; i++)); do touch "$1/dir-$i"; done
	ls "$1/absent" 2>/dev/null || true
	rm -f "$1"/dir-* "$1/file"
}
# Any user may read mountstats, all the time.
setpriv --reuid 65534 --clear-groups sh -c 'while cat /proc/self/mountstats; do :; done' >/dev/null &
reader=$!
defer kill "$reader"
turn=0
for order in 'three same four private' 'private four three same'; do
	# shellcheck disable=SC2086 # names
	mount_each $order
	sleep 1
	compare_points "before-$turn"
	work /mnt/three $((2 + turn)) 5
	work '/mnt/the same' 1 3
	work /mnt/four $((1 + turn)) 20
	work /mnt/private $((4 - turn)) 1
	compare_points "after-$turn"
	umount '/mnt/the same'
	umount /mnt/three
	umount /mnt/four
	umount /mnt/private
	turn=$((turn + 1))
done
# Two folders of one export, which the kernel takes into one superblock; then the second one alone.
for name in a b; do
	mkdir -p "/export/$name" "/mnt/$name"
	defer unmount "/mnt/$name"
	mount -t nfs -o vers=4.2 "127.0.0.1:/$name" "/mnt/$name"
done
[[ $(stat -c %d /mnt/a) == $(stat -c %d /mnt/b) ]]
sleep 1
compare_points folders-before
touch /mnt/b/{1..20}
compare_points folders-both
umount /mnt/a
touch /mnt/b/{21..40}
compare_points folders-alone
umount /mnt/b
agents_stop
