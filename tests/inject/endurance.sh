#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's part of `make soak` (it becomes the job's run.sh): an agent at 0.1 s intervals while NFS is mounted and
# unmounted over and over and calls are made. Each version of its file is whole, no counter goes back, no fault is lost;
# at the end, descriptors, memory, maps, programs and links are as at the beginning.
set -u
cd /job || exit
# shellcheck source=tests/vm/guest-lib.sh
. /vm/guest-lib.sh
mkdir -p out
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
nfs_server_start 4 >/dev/null
objects() { for what in map prog link; do bpftool "$what" list | grep -c '^[0-9]*:'; done | paste -sd ' '; }
memory() { sed -n 's/^xidscope_memory_bytes{kind="resident"} //p' /tmp/agent/x.prom; }
calls() { awk '/^xidscope_rpc_op_calls_total/ { sum += $2 } END { print sum + 0 }' /tmp/agent/x.prom; }

touch /tmp/agent.busy
./inject disturb /tmp/agent watched "$(<seconds)" /job/xidscope >out/agent 2>&1 &
wait_for 60 grep -q 'attached to sunrpc' /tmp/agent.log
nfs_mount 4.1 '' /mnt/stays && nfs_mount 3 nolock /mnt/stays3
sleep 5
before=$(objects) early=$(memory)
begin=$SECONDS
mounts=0 failures=0
while ((mounts < $(<mounts))); do
	version=$((mounts % 2 ? 3 : 4))
	nfs_mount "${version/4/4.1}" nosharecache /mnt/goes "127.0.0.$((1 + mounts % 4))" >/dev/null 2>&1 &&
		dd if=/dev/zero of=/mnt/goes/file bs=4k count=20 conv=fsync status=none &&
		umount /mnt/goes || failures=$((failures + 1))
	mounts=$((mounts + 1))
	# All servers are known by now: from here on, memory stays as it is.
	((mounts != 20)) || early=$(memory)
	((mounts % 50)) || echo "$mounts mounts: $(memory) bytes, $(grep -c '^[^#]' /tmp/agent/x.prom) samples"
done
# What is left of the time: calls.
while ((SECONDS - begin < $(<seconds) - 20)); do
	dd if=/mnt/stays/file of=/dev/null bs=4k iflag=direct status=none
	dd if=/dev/zero of=/mnt/stays3/file bs=4k count=200 oflag=direct status=none
	sleep "$(<pause)"
done
sleep 5
after=$(objects)
late=$(memory)
printf '%s\n' "$mounts mounts and unmounts, $failures failed" "$(calls) calls" \
	"maps, programs, links: $before, then $after" "resident memory: $early bytes, then $late" >out/figures
rm /tmp/agent.busy
status=0
wait $! || status=1
cp /tmp/agent.log out/agent.log
cp /tmp/agent.prom out/
cat out/figures out/agent
[[ $before == "$after" && $status == 0 ]] && ((failures == 0 && late < early + 524288))
