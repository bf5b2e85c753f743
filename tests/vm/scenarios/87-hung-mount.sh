# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The check asks for mounts whose server then stops for a minute, again and again, and at last answers.
mkdir -p /etc/xidscope
nfs_server_start
nfs_mount 3 '' /mnt/three
nfs_mount 4.2 '' '/mnt/with blank'
cp /etc/fstab fstab
printf '127.0.0.1:/ /mnt/with\\040blank nfs4 rw 0 0\n127.0.0.1:/ /mnt/absent nfs noauto 0 0\n' >>/etc/fstab
defer cp "$PWD/fstab" /etc/fstab
echo '# EOF' >metrics
# check NAME [OPTION...]: its answer, exit code, milliseconds, and the processes that it has left.
check() {
	local begin code=0 name=$1
	touch metrics
	begin=$(date +%s%3N)
	# who waits for the end of its output waits for no process that it has left
	json=$(/job/xidscope check --json --file metrics --mount /mnt/three "${@:2}") || code=$?
	echo "$json" >"$name.json"
	echo "$code $(($(date +%s%3N) - begin)) $(pgrep -x -c xidscope-mount)" >"$name.result"
}
check fine
check absent --mount /mnt/nothing
mount -o remount,ro /mnt/three
check read-only
mount -o remount,rw /mnt/three
/job/xidscope check --file metrics --mount /mnt/three --explain >explained || true
nfs_server_stop
for i in {1..20}; do
	check "hung-$i"
	sleep 0.5
done
check snoozed --rule mount_hung=off
# two at once: one of them waits for the other's question
check together-1 &
other=$!
check together-2
wait $other
nfs_server_start
wait_for 60 sh -c '! pgrep -x xidscope-mount'
ps -eo stat,comm | awk '/^D.*xidscope/' >stuck
stat -t /mnt/three '/mnt/with blank' >/dev/null # it answers
check again
for i in {1..5}; do check "busy-$i" & done
wait
# A server that answers later than the check waits, but answers: those who read one after another have begun at different times.
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
sleep 2
check slow
tc qdisc del dev lo root
pkill -KILL -x dd
