# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tasks of a pod hang in a mount that only the pod sees, whose server is dead, while the node's only mount is of another server. On
# that mount a task waits for WRITEs to which the server answers "try later" for minutes, because a client that is gone
# holds a delegation.
nfs_server_start
rpc.nfsd 0
rpc.nfsd --grace-time 10 --lease-time 240 8
# by which the mount is known, from 5.15 on
grep -c ' bpf_task_pt_regs$' /proc/kallsyms >registers || true
server=$(netns_client pod 10.0.6)
held_at=$(netns_client holder 10.0.7)
for name in held inside; do dd if=/dev/zero of=/export/$name bs=64k count=1 status=none; done

NETNS=holder nfs_mount 4.1 '' /mnt/holder "$held_at"
cat /mnt/holder/held >/dev/null # the server then tries the way back to the client, without which it gives no delegation
sleep 2
exec 6</mnt/holder/held
cat <&6 >/dev/null
tc -n holder qdisc add dev eth0 root netem loss 100%

agent_start --interval 5 --events events.json
mkdir -p /mnt/pod
in_netns pod unshare --mount --pid --fork --kill-child bash -c '
	mount -t nfs -o "vers=3,nolock" "$1:/export" /mnt/pod
	exec 8</mnt/pod/inside
	: >ready
	until [[ -e cut ]]; do sleep 0.2; done
	dd bs=4k count=1 iflag=direct of=/dev/null status=none <&8 &
	stat /mnt/pod/held >/dev/null &
	wait' - "$server" &
pod=$!
wait_for 60 test -e ready
umount -f -l /mnt/holder
nfs_mount 3 nolock /mnt/healthy
tc -n pod qdisc add dev eth0 root netem loss 100%
: >./cut
dd if=/dev/zero of=/mnt/healthy/held bs=4k count=1 conv=notrunc,fsync status=none &
writer=$!
sleep 5
told() { [[ $(grep -c '"comm":"\(dd\|stat\)"' events.json) == "$1" ]]; }
if [[ -e /proc/$writer ]]; then wait_for 200 told 3; else wait_for 200 told 2; fi
agent_write stuck
/job/xidscope check --json --health health.json >check.json || true
kill "$pod"
tc -n pod qdisc del dev eth0 root
tc -n holder qdisc del dev eth0 root
wait "$writer"
agent_stop
