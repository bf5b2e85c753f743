# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The agent asks mounts whose server then stops, and at last answers: it finds them, goes on writing its health file and ends in
# time; it leaves one process for each mount, and none afterwards. A slow server does not hang.
nfs_server_start
nfs_mount 3 '' /mnt/three
nfs_mount 4.2 '' '/mnt/with blank'
mkdir -p /mnt/nothing
mount -t tmpfs none /mnt/nothing
cp /etc/fstab fstab
printf '127.0.0.1:/ /mnt/with\\040blank nfs4 rw 0 0\n127.0.0.1:/ /mnt/absent nfs noauto 0 0\n' >>/etc/fstab
defer cp "$PWD/fstab" /etc/fstab
start() { agent_start --hooks rpc --interval 5 --events none --mount /mnt/three --mount /mnt/nothing; }
start
# found NAME RULE...: until check names these rules alone, for each device; its answer and the seconds that this took.
rules() {
	/job/xidscope check --health health.json --json >"$1.json" || true
	[[ $(grep -o '"rule":"[a-z_]*"' "$1.json" | cut -d '"' -f 4 | sort | xargs) == "${*:2}" ]]
}
found() {
	local begin=$SECONDS
	wait_for 90 rules "$@"
	echo $((SECONDS - begin)) >"$1.seconds"
}
found fine
umount /mnt/nothing
found absent mount_unusable
mount -t tmpfs none /mnt/nothing
found there
mount -o remount,ro /mnt/three
found read-only mount_unusable
mount -o remount,rw /mnt/three
found writable
nfs_server_stop
found hung mount_hung mount_hung
for i in {1..30}; do
	rules "hung-$i" mount_hung mount_hung || echo "check $i: $(<"hung-$i.json")" >>lost
	pgrep -x -c xidscope-mount >>left || true
	sleep 1
done
/job/xidscope check --health health.json --explain >explained || true
begin=$(date +%s%3N)
agent_stop
echo $(($(date +%s%3N) - begin)) >stop.milliseconds
/job/xidscope check --health health.json >stopped || echo $? >>stopped
start
found again mount_hung mount_hung
nfs_server_start
found over
wait_for 60 sh -c '! pgrep -x xidscope-mount'
ps -eo stat,comm | awk '/^D.*xidscope/' >stuck
# A server that answers later than the agent waits, but answers: those who read one after another have begun at different times.
for mount in three 'with blank'; do
	prepare_file "/mnt/$mount"
done
readers() {
	for i in {1..16}; do
		while dd if="/mnt/$1/load" of=/dev/null bs=4k count=1 skip=$((RANDOM % 4096)) iflag=direct status=none; do :; done &
		sleep 0.1
	done
}
tc qdisc add dev lo root netem delay 800ms limit 10000
readers three
readers 'with blank'
for i in {1..70}; do
	rules "slow-$i" || echo "check $i: $(<"slow-$i.json")" >>slow
	sleep 1
done
tc qdisc del dev lo root
pkill -KILL -x dd
agent_stop
