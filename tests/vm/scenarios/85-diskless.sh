# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The acknowledgements lie in an overlay of a tmpfs over NFS, as on nodes without disks, then on a disk that needs the same
# server. It falls silent: the agent writes on time, ends, starts again, and reads them when it answers.
server=(-d 127.0.0.2 -p tcp --dport 2049)
modprobe -qa overlay loop || true # part of some kernels
nfs_server_start
mkdir -p /export/root/etc/xidscope /mnt/overlay /mnt/disk /run/layers
echo '* gpus_missing until:2036-01-01' | tee /export/root/etc/xidscope/acks >acks
dd if=/dev/zero of=/export/disk bs=1M count=8 status=none
busybox mke2fs -F /export/disk >/dev/null
nfs_mount 3 actimeo=1 /mnt/server 127.0.0.2
mount -t tmpfs none /run/layers
defer unmount /run/layers
mkdir /run/layers/{upper,work}
defer unmount /mnt/overlay
mount -t overlay none -o lowerdir=/mnt/server/root,upperdir=/run/layers/upper,workdir=/run/layers/work /mnt/overlay
defer unmount /mnt/disk
mount -o loop /mnt/server/disk /mnt/disk
mkdir -p /mnt/disk/etc/xidscope
cp acks /mnt/disk/etc/xidscope/
took() {
	local begin
	begin=$(date +%s%3N)
	"${@:2}"
	echo "$1 $(($(date +%s%3N) - begin))" >>milliseconds
}
judged() { [[ $(/job/xidscope check --health health.json) == "XIDSCOPE $1"* ]]; }
for on in overlay disk; do
	file=/mnt/$on/etc/xidscope/acks
	start() { agent_start --hooks rpc --events none --gpus 8 --ack "$file"; }
	took "$on-first-start" start
	judged OK
	mv $file $file.away
	took "$on-removed" agent_write
	judged CRITICAL
	mv $file.away $file
	took "$on-back" agent_write
	judged OK
	sync
	echo 3 >/proc/sys/vm/drop_caches
	block "${server[@]}"
	sleep 3
	took "$on-write" agent_write
	judged OK
	took "$on-stop" agent_stop
	took "$on-start" start
	took "$on-second-write" agent_write
	wait_for 30 says agent.log "$file: its file system does not answer; none counts"
	judged CRITICAL
	took "$on-second-stop" agent_stop
	start
	unblock "${server[@]}"
	wait_for 150 judged OK
	agent_stop
done
