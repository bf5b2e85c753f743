# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the agent takes, also of the kernel, from the start on: with one server, then with eight others of 16 transports each and 33
# owners.
# shellcheck disable=SC2016,SC2034,SC2154 # agent and agent_under are agent-lib.sh's

# measure NAME: kilobytes of all of the agent's processes to NAME.kb: each page once, and the most that one has ever had.
measure() {
	local pid
	for _ in 1 2 3; do agent_write "$1"; done
	agent_settle 1
	for pid in "$agent" $(pgrep -P "$agent" '^xidscope-[^l]'); do # not the one for messages in a file: the journal has none
		cat "/proc/$pid/smaps" >"$1-$pid.smaps"
		awk '/^(Pss|VmHWM):/ { print $1, $2 }' "/proc/$pid/smaps_rollup" "/proc/$pid/status"
	done >"$1.kb"
	awk '$1 == "kernel" || NF == 1 { print $NF }' "$group"/memory.{peak,stat} >"$1.group"
}
group=/sys/fs/cgroup/memory-of-agent
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
defer rmdir $group
agent_under=(sh -c 'echo $$ >"$0"/cgroup.procs; exec "$@"' "$group")
nfs_server_start
prepare_file /export
agent_start --detail node
measure start
nfs_mount 3 '' /mnt/one
dd if=/mnt/one/load of=/dev/null bs=4k count=200 iflag=direct status=none
measure one
unmount /mnt/one
for i in 1 2 3 4 5 6 7 8; do
	mount_directly "127.0.3.$i" "storage-$i" "/mnt/many-$i" noresvport,nconnect=16
done
for job in {1..33}; do
	(
		join_group "system.slice/slurmstepd.scope/job_$job"
		for i in 1 2 3 4 5 6 7 8; do dd if="/mnt/many-$i/load" of=/dev/null bs=4k count=32 iflag=direct status=none; done
	)
done
measure many
agent_stop
