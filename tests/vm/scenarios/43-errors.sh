# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A file system of the server is full. The session's sentence, the event and the finding name the
# error, the mount and who wrote; ordinary errors before it are none.
nfs_server_start
mkdir -p /export/gone
agent_start --interval 1 --events events.json
nfs_mount 4.2 '' /mnt/four
nfs_mount 3 '' /mnt/three
for i in {1..20}; do
	! cat "/mnt/four/none.$i" || false
	! mkdir /mnt/three/gone || false
done 2>/dev/null
/job/xidscope check --json --health health.json >ordinary.json || true
used=$(df --output=used -BM /export | tail -1)
mount -o "remount,size=$((${used//[!0-9]/} + 2))m" /export
defer mount -o remount,size=50% /export
trace_begin full
for i in {1..6}; do
	! dd if=/dev/zero of=/mnt/four/full bs=1M count=4 oflag=direct conv=notrunc || false
	sleep 0.2
done 2>dd.txt
trace_end
wait_for 20 says events.json '"kind":"nfs_errors"'
/job/xidscope check --json --health health.json >full.check || true
rm -f /mnt/four/full
mount -o remount,size=50% /export
wait_for 90 grep -q '"kind":"nfs_errors".*"state":"end"' events.json
wait_for 20 says health.json 'ended with ENOSPC, data were not written' # for an hour
agent_write after
agent_stop
