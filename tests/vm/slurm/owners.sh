#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the calls of Slurm's jobs are theirs, in the control groups that its own daemons make: of a batch script, of a
# step, of pages that the kernel writes back after the job, of the tasks of an array, and of jobs that end at once.
set -Eeuo pipefail
cd /job
nodes=1
. ./slurm-lib.sh
groups=/sys/fs/cgroup
slurm_configure
slurm_conf ProctrackType=proctrack/cgroup TaskPlugin=task/cgroup
sed -i '/pgid$/d; /task.none/d; /^HealthCheck/d; /^Prolog/d; /^Epilog/d' /etc/slurm/slurm.conf
printf '%s\n' CgroupPlugin=cgroup/v2 IgnoreSystemdOnFailure=yes ConstrainRAMSpace=yes >/etc/slurm/cgroup.conf

step "the agent counts by owner"
nfs_server_start
nfs_mount 3 '' /mnt/data
xidscope run --output /run/agent.prom --interval 2 --events none 2>out/slurm.log &
wait_for 600 grep -q 'attached to sunrpc' out/slurm.log

step "Slurm starts: $(slurmctld -V)"
for folder in $groups $groups/system.slice $groups/system.slice/slurmd.service; do
	mkdir -p "$folder"
	[[ $folder == *.service ]] || echo '+cpu +cpuset +memory +pids' >"$folder/cgroup.subtree_control"
done
(
	echo "$BASHPID" >$groups/system.slice/slurmd.service/cgroup.procs
	slurmctld
	slurmd_start n1
)

# batch SCRIPT [OPTION...]: runs a job to its end, and prints its number.
batch() {
	local script=$1
	shift
	sbatch --parsable --wait --output=/dev/null "$@" <<<"#!/bin/bash
		grep -h . /proc/self/cgroup >>/job/out/groups
		$script"
}
# bytes OWNER: that it has sent. owns OWNER BYTES: within one percent, once the file is written.
bytes() { sed -nE "s/^xidscope_nfs_owner_sent_bytes_total\{.*owner=\"$1\".*\} //p" /run/agent.prom | awk '{ n += $1 } END { printf "%d", n }'; }
owns() { (($(bytes "$1") >= $2 * 99 / 100 && $(bytes "$1") <= $2 * 101 / 100)); }
is_owner() {
	wait_for 60 owns "$1" "$2" || { echo "$1: $(bytes "$1") bytes instead of $2" && grep nfs_owner_sent /run/agent.prom && false; }
	echo "$1: $(bytes "$1") of $2 bytes" | tee -a out/owners
}
write() { echo "dd if=/dev/zero of=/mnt/data/$1 bs=1M count=$2 ${3:-} status=none"; }

step "a batch script, a step, and pages that are written back"
direct=$(batch "$(write direct 12 oflag=direct)")
stepped=$(batch "srun $(write stepped 10 oflag=direct)")
buffered=$(batch "$(write buffered 8)")
sync
is_owner "slurm:$direct" $((12 << 20))
is_owner "slurm:$stepped" $((10 << 20))
is_owner "slurm:$buffered" $((8 << 20))

step "the tasks of an array"
array=$(batch "$(write "array-\$SLURM_ARRAY_TASK_ID" 4 oflag=direct)" --array=1-2)
wait_for 60 grep -q "owner=\"slurm:" /run/agent.prom
sleep 3
sed -nE 's/^xidscope_nfs_owner_sent_bytes_total\{.*owner="(slurm:[^"]*)".*\} ([0-9]+)/\1 \2/p' /run/agent.prom >out/array
echo "array $array: $(tr '\n' ' ' <out/array)"
for task in "$array" "$((array + 1))"; do is_owner "slurm:$task" $((4 << 20)); done

step "jobs that end at once"
for ((i = 0; i < 20; i++)); do
	quick=$(batch "$(write quick 1 oflag=direct)")
	is_owner "slurm:$quick" $((1 << 20))
done
sort -u out/groups | tail -n 5
step "done"
