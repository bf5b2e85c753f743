# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154,SC2034 # programs of bash and perl; agent and agents are agent-lib.sh's
# The calls of jobs of Slurm, LSF and PBS, a pod, a container of CRI-O, a unit and a user are theirs, whoever writes back their
# pages, and all add up to the server: also of processes that live for a moment, and of more jobs than the tables hold. Another
# agent does not count owners. The source tracepoints does not know whose pages the kernel writes back.
# PARAMETERS="processes=2000 jobs=10000 pause=0.25": so many, and seconds between two jobs.
groups=/sys/fs/cgroup
uid=01234567-89ab-cdef-0123-456789abcdef
pod=kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid//-/_}.slice/cri-containerd-ab.scope
id=4f0cd5b61a9201234567890123456789012345678901234567890123456789ab
readers=("$pod" "system.slice/crio-$id.scope" lsf/cluster1/job.4711.2026.1695012345 "pbs_jobs.service/jobs/4711[3].server")
# group PATH: a control group with memory accounted for.
group() {
	local path='' name names
	IFS=/ read -ra names <<<"$1"
	for name in "${names[@]}"; do
		echo +memory >"$groups$path/cgroup.subtree_control"
		path+=/$name
		mkdir -p "$groups$path"
	done
}
# cost_of PID: resident kilobytes, ticks of CPU time, seconds.
cost_of() { echo "$(awk '/^VmRSS/ { print $2 }' "/proc/$1/status") $(cut -d ' ' -f 14,15 "/proc/$1/stat") $SECONDS" >>costs; }
job() { echo "system.slice/slurmstepd.scope/job_$1"; }
for name in "$(job 4711)/step_0" "$(job 4712)/step_0" "$(job 4713)/step_batch" "$(job 4714)/step_0" "${readers[@]}" system.slice/copy.service \
	user.slice/user-1000.slice/session-1.scope; do
	group "$name"
done
containers=/var/lib/containers/storage/overlay-containers
mkdir -p "/var/log/pods/train_loader-0_$uid" $containers
echo "[{\"id\": \"$id\", \"names\": [\"infer\"]}]" >$containers/containers.json
# The kernel begins soon to write back.
set_value /proc/sys/vm/dirty_writeback_centisecs 10
set_value /proc/sys/vm/dirty_expire_centisecs 10

nfs_server_start
agent_in default
agent_in off --owners off
agent_in tracepoints --source tracepoints
echo "${processes:=40}" >processes
version=4.2
for turn in first second; do
	nfs_mount $version '' /mnt/owners
	sleep 1
	compare_points "before-$turn"
	in_group "$(job 4711)/step_0" /job/dirty /mnt/owners/mapped 10
	in_group "$(job 4712)/step_0" dd if=/dev/zero of=/mnt/owners/buffered bs=1M count=15 status=none &
	writer=$!
	in_group "$(job 4713)/step_batch" dd if=/dev/zero of=/mnt/owners/direct bs=1M count=6 oflag=direct status=none
	wait "$writer"
	sync
	for name in "${readers[@]}"; do in_group "$name" dd if=/mnt/owners/direct of=/dev/null bs=1M iflag=direct status=none; done
	# Not cp, for which NFSv4.2 has the server copy.
	in_group system.slice/copy.service dd if=/mnt/owners/direct of=/mnt/owners/copy bs=1M status=none
	in_group user.slice/user-1000.slice/session-1.scope ls -lR /mnt/owners >/dev/null
	in_group "$(job 4714)/step_0" bash -c 'for ((i = 0; i < $1; i++)); do
		((i % 8)) || wait
		dd if=/mnt/owners/direct of=/dev/null bs=64k count=1 skip=$((i % 96)) iflag=direct status=none &
	done
	wait' - "$processes"
	compare_points "after-$turn"
	rm /mnt/owners/{mapped,buffered,direct,copy}
	umount /mnt/owners
	# The same job's group, made again.
	rmdir "$groups/$(job 4711)/step_0" "$groups/$(job 4711)"
	group "$(job 4711)/step_0"
	version=3
done

moved=$SECONDS
for name in off tracepoints; do
	agent=${agents[$name]} agent_stop
	unset "agents[$name]"
done

# Jobs that end at once: more than there are numbers for. Between two writes there is always room for those that call.
nfs_mount 3 '' /mnt/owners
for ((i = 40; i <= ${jobs:=320}; i += 40)); do
	# The owners above keep their series for a minute.
	((i < jobs)) || wait_for 70 eval '((SECONDS > moved + 61))'
	perl -e 'my ($groups, $from, $to, $pause) = @ARGV;
		for my $job ($from .. $to) {
			my $group = $groups . (5000 + $job);
			mkdir $group or die $!;
			if (!fork) {
				open my $procs, ">", "$group/cgroup.procs" or die $!;
				print $procs $$;
				close $procs or die $!;
				open my $file, ">", "/mnt/owners/$job" or die $!;
				exit;
			}
			wait;
			$? and die "job $job";
			rmdir $group or die $!;
			select undef, undef, undef, $pause;
		}' "$groups/$(job '')" $((i - 39)) "$i" "${pause:-0}"
	compare_points "jobs-$i"
	cost_of "${agents[default]}"
done

# A job that begins while another one's 300 groups have all numbers has figures of its own once there is room.
group "$(job 4715)"
group "$(job 4716)"
perl -e 'pipe my $done, my $ready or die $!;
	for my $n (1 .. 300) {
		mkdir "$ARGV[0]/$n" or die $!;
		fork and next;
		open my $procs, ">", "$ARGV[0]/$n/cgroup.procs" or die $!;
		syswrite $procs, $$ or die $!;
		stat "/mnt/owners/absent-$n";
		syswrite $ready, "x";
		sleep;
	}
	sysread $done, my $byte, 1 for 1 .. 300;
	open my $file, ">", "crowded"; close $file; sleep' "$groups/$(job 4715)" &
wait_for 60 test -e crowded
in_group "$(job 4716)" perl -e 'for (;;) { stat "/mnt/owners/absent-" . $n++; select undef, undef, undef, 0.2 }' &
wait_for 20 eval "((\$(wc -l <$groups/$(job 4716)/cgroup.procs) == 1))"
sleep 1
named() { agent_write && sleep 0.5 && says x.prom 'owner="slurm:4716"'; }
agent=${agents[default]}
in_folder default wait_for 60 named
pkill -KILL -x perl
wait_for 20 umount /mnt/owners
agents_stop

# One job's long writes fill the slots, another's short reads wait for them.
slot_limit 4
nfs_mount 3 '' /mnt/owners
prepare_file /mnt/owners
sleep 1
trace_begin roles
in_group "$(job 4711)/step_0" fio --name=long --filename=/mnt/owners/long --size=16m --rw=write --bs=1m --direct=1 --ioengine=libaio --iodepth=4 \
	--time_based --runtime=6 >/dev/null &
long=$!
in_group "$(job 4712)/step_0" fio --name=short --filename=/mnt/owners/load --size=16m --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=16 \
	--time_based --runtime=6 >/dev/null &
wait "$!" "$long"
trace_end
