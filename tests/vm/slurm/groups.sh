#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that a job has its number, by the control groups that Slurm's own slurmd makes, in calls by owner, in the event of an
# Xid of its process, in `why --job` and for the epilog: with each form of groups that this version has. The health check, by the
# lines of docs/DEPLOY.md, sets a comment in a first week.
set -Eeuo pipefail
cd /job
nodes=1
. ./slurm-lib.sh
events=/job/out/xidscope.events
slurm_configure
mapfile -t lines <lines
slurm_conf ProctrackType=proctrack/cgroup "${lines[@]}"
ln -s /usr/local/sbin/xidscope-health-check /usr/sbin/
printf '%s\n' XIDSCOPE_MODE=observe "XIDSCOPE_EVENTS=$events" >/etc/xidscope/slurm
parts() { tr , '\n' | sort; }
commented() { scontrol show node n1 | grep 'Comment=.*Xid 79'; }
mkdir /sys/fs/cgroup/system.slice # as systemd has it
for folder in /sys/fs/cgroup{,/system.slice}; do echo "+cpuset +cpu +memory +pids" >"$folder/cgroup.subtree_control"; done
nfs_server_start 8
nfs_mount 4.2 '' /mnt/data
cat >/usr/local/bin/work <<'END'
#!/bin/bash
dd if=/dev/zero of=/mnt/data/file bs=1M count=20 conv=fsync status=none
cat /proc/self/cgroup >"/job/out/groups-$SLURM_JOB_ID"
echo $$ >"/run/pid-$SLURM_JOB_ID"
until [[ -e /run/end-$SLURM_JOB_ID ]]; do sleep 0.5; done
END
output=/run/agent.prom
xidscope run --output $output --interval 2 --events $events 2>out/slurm.log &
agent=$!
hup() { kill -HUP $agent; }
wait_for 600 test -s $output
driver_load
change n1 /run/xidscope/health.json
forms=("")
! grep -q CgroupJobIdPaths /usr/lib/*/slurm*/*.so /usr/sbin/slurmd || forms=(CgroupJobIdPaths={no,yes})
for form in "${forms[@]}"; do
	step "$(slurmctld -V) $form"
	printf '%s\n' CgroupPlugin=cgroup/v2 IgnoreSystemd=yes "$form" >/etc/slurm/cgroup.conf
	slurmctld
	slurmd_start n1
	rm -f /var/lib/xidscope/slurm/n1.comment # which the controller keeps
	scontrol update nodename=n1 comment=
	job=$(job --no-requeue)
	wait_for 600 test -s "/run/pid-$job"
	cat "out/groups-$job"
	refresh
	sent=$(sum xidscope_nfs_owner_sent_bytes_total "owner=\"slurm:$job\"" 'kind="write"')
	echo "job $job has sent $sent bytes"
	((sent >= 20 << 20 && sent < (20 << 20) * 101 / 100))
	cp "$output" now # not two of them
	[[ $(output=now sum xidscope_nfs_owner_sent_bytes_total) == "$(output=now sum xidscope_rpc_sent_bytes_total 'server="127.0.0.1"')" ]]
	print_fault "$(<"/run/pid-$job")"
	wait_for 60 grep "\"xid\":79.*\"job\":\"*$job\b" $events
	wait_for 300 commented
	[[ ! $(state n1) =~ DRAIN|DOWN ]]
	said=$(scontrol show config 2>&1 >settings)
	[[ ! $said ]]
	for line in "${lines[@]}"; do [[ $(sed -n "/^${line%%=*} /{s/.* = //; s/ sec$//; p}" settings | parts) == "$(parts <<<"${line#*=}")" ]]; done
	touch "/run/end-$job"
	wait_for 300 grep ": xid: .*$job" "/var/lib/xidscope/slurm/n1.job-$job"
	xidscope why --job "$job" --events $events | tee "out/why-$job" | head -n 1 | grep '^xid: '
	scontrol shutdown
	pkill slurmd || true
	wait_for 60 eval '! pgrep -x slurmctld && ! pgrep -x slurmd' >/dev/null
done
step "done"
