# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sixty servers with their mounts come and go, five at a time, and 488 jobs, eight for each: all have figures of their own, and a
# server that comes back begins at 0. Also while an agent writes at its usual interval.
# PARAMETERS="pause=57": seconds between two servers. With less than 15, more than 32 owners call in a minute, for which there are no series.
# shellcheck disable=SC2154 # agents is agent-lib.sh's
groups=/sys/fs/cgroup/system.slice/slurmstepd.scope
mkdir -p "$groups"
nfs_server_start
dd if=/dev/zero of=/export/load bs=16k count=1 status=none
agent_in default
agent_in usual --interval 15 --detail node
agent_in tracepoints --source tracepoints
# visit POINT SERVER: mounts it, reads, unmounts the one before the last five, has one agent write, and each third time all.
visit() {
	local point=$1 i=$2
	mount_directly "127.0.3.$i" "storage-$i" "/mnt/end-$i" noresvport
	perl -MFcntl -e 'my ($groups, $first, $file) = @ARGV;
		for my $job ($first .. $first + 7) {
			mkdir "$groups/job_$job" or die $!;
			if (!fork) {
				open my $procs, ">", "$groups/job_$job/cgroup.procs" or die $!;
				syswrite $procs, $$ or die $!;
				sysopen my $data, $file, O_RDONLY | O_DIRECT or die $!;
				(sysread $data, my $bytes, 1024) == 1024 or die $! for 1 .. 2;
				exit;
			}
			wait;
			$? and die "job $job";
			rmdir "$groups/job_$job" or die $!;
		}' "$groups" $((8 * point)) "/mnt/end-$i/load"
	# umount would call the server first: its series may end before another file is looked at.
	((point <= 5)) || perl -e 'syscall(166, $ARGV[0], 0) == 0 or die "umount: $!"' "/mnt/end-$last"
	agent=${agents[usual]} in_folder usual agent_write "at-$point"
	((point % 3 == 0 || point == 61)) || return 0
	compare_points "at-$point"
	for name in default usual; do
		echo "$(awk '/^VmRSS/ { print $2 }' "/proc/${agents[$name]}/status") $(wc -c <$name/x.prom)" >>$name/sizes
	done
}
for ((point = 1; point <= 60; point++)); do
	last=$((point - 5))
	visit "$point" "$point"
	sleep "${pause:=57}"
done
last=56
visit 61 1
agents_stop
