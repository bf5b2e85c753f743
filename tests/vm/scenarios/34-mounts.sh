# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Mounts are shown as mountinfo has them, with the options in force, from when they are there until they end; two of one storage system by different
# addresses are one by --storage and the documented query. One of another network namespace has the name of its calls. And
# two servers are mounted in turn, so that the kernel gives the memory of one's transport to the other's.
nfs_server_start
own_addresses 10.0.9.{1..5}
agent_start --storage 'scratch=10.0.9.*' --storage 'other=*'
nfs_mount 3 wsize=65536,soft /mnt/one 10.0.9.1
nfs_mount 4.2 '' '/mnt/two #2' 10.0.9.2
nfs_mount 4.1 '' /mnt/six '[::1]'
mkdir -p /mnt/one/folder /mnt/bind
defer unmount /mnt/bind
mount --bind /mnt/one/folder /mnt/bind
for i in {10..13}; do
	for dir in /mnt/one '/mnt/two #2' /mnt/six; do
		dd if=/dev/zero of="$dir/load" bs=1M count=1 conv=fsync status=none
		dd if="$dir/load" of=/dev/null bs=1M iflag=direct status=none
	done
	agent_write "$i"
done
cp /proc/1/mountinfo .
ss -Htn state established dport = :2049 | awk '{ print $3, $4 }' >sockets
move 10.0.9.1 10.0.9.3
dd if=/mnt/one/load of=/dev/null bs=1M iflag=direct status=none
ss -Htn state established dport = :2049 | awk '{ print $3, $4 }' >moved.sockets
agent_write moved
umount /mnt/bind
umount /mnt/six
agent_write gone
other=$(netns_client other 10.0.13)
NETNS=other nfs_mount 3 nconnect=4,wsize=262144 /mnt/other "$other"
# new mounts of later kernels have a readahead of their own
for mount in one:128 other:1024; do echo "${mount#*:}" >"/sys/class/bdi/$(mountpoint -d "/mnt/${mount%:*}")/read_ahead_kb"; done
ls /mnt/other >/dev/null
agent_write other

# Without a snapshot in between, which compares the servers of transports.
reused() { # whether a transport has had the memory of another server's
	cat 10.0.9.*.json | grep -o '"key":[0-9]*,"value":{"transport":[0-9]*,"server":[0-9]*' | sed 's/"value".*:/ /' | sort -u |
		uniq -d -w 26 | grep -q .
}
for i in {10..39}; do
	! ((i > 12)) || ! reused || break
	for address in 10.0.9.{4,5}; do
		mount_directly "$address" "$address" /mnt/turn
		ls /mnt/turn >/dev/null
		[[ ! -e /sys/kernel/btf/sunrpc ]] || bpftool -j map dump name xprts >"$address-$i.json"
		umount /mnt/turn
	done
done
agent_write turns
agent_stop
