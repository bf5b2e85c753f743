# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the guests with Slurm share: its daemons on one host, jobs, and the states of nodes. The guest's script defines
# begins(), which is said of a job's first line, and sets nodes, their number.
. ./deploy-lib.sh
# shellcheck disable=SC2034 # that uses it
name=slurm
: "${nodes:?}"

# shellcheck disable=SC2034 # wait_for: Slurm's commands would keep the guest busy
pause=3

# slurm_conf [LINE...]: for so many nodes, and with these lines besides, or instead.
slurm_conf() {
	local line
	cat >/etc/slurm/slurm.conf <<-EOF
		ClusterName=guest
		SlurmctldHost=guest
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=cred_expire=60
		CryptoType=crypto/munge
		MpiDefault=none
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		SelectType=select/linear
		JobAcctGatherType=jobacct_gather/none
		SwitchType=switch/none
		StateSaveLocation=/var/spool/slurmctld
		SlurmdSpoolDir=/var/spool/slurmd.%n
		SlurmctldPidFile=/run/slurmctld.pid
		SlurmdPidFile=/run/slurmd.%n.pid
		SlurmctldLogFile=/job/out/slurmctld.log
		SlurmdLogFile=/job/out/slurmd.%n.log
		SlurmdTimeout=3600
		MessageTimeout=100
		BatchStartTimeout=600
		ReturnToService=1
		KillWait=5
		SchedulerParameters=bf_interval=5,sched_interval=5
		HealthCheckProgram=/usr/local/sbin/wrapper
		HealthCheckNodeState=ANY
		Prolog=/usr/local/sbin/wrapper
		Epilog=/usr/local/sbin/wrapper
		NodeName=n[1-$nodes] NodeHostname=guest NodeAddr=127.0.0.1 Port=[7001-$((7000 + nodes))] CPUs=1 State=UNKNOWN
		PartitionName=batch Nodes=n[1-$nodes] Default=YES MaxTime=60 State=UP
	EOF
	for line; do sed -i "/^${line%%=*}=/d" /etc/slurm/slurm.conf; done
	printf '%s\n' "$@" >>/etc/slurm/slurm.conf
}

# slurm_configure: all but slurm.conf. Each node has its health file in /run/files. A check that has ended leaves a line in
# /run/checks.
slurm_configure() {
	mkdir -p /etc/slurm /etc/munge /run/munge /var/log/munge /var/lib/munge /etc/xidscope /run/files /run/checks /job/out
	mkdir -p /var/spool/slurmctld
	install xidscope xidscope-health-check /usr/local/sbin/
	cat >/usr/local/sbin/wrapper <<-'EOF'
		#!/bin/bash
		printf -v begun '%(%s)T' -1
		/usr/local/sbin/xidscope-health-check --health "/run/files/$SLURMD_NODENAME" --max-age 1d
		status=$?
		[[ ${SLURM_SCRIPT_CONTEXT:-} ]] || echo "$begun" >>"/run/checks/$SLURMD_NODENAME"
		exit $status
	EOF
	chmod +x /usr/local/sbin/wrapper
	echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf # which does nothing; v2 wants systemd
	ip address add 10.9.9.1/32 dev lo # names are looked up only where there is another address than that of the loop
	head -c 128 /dev/urandom >/etc/munge/munge.key
	chown -R munge:munge /etc/munge /run/munge /var/log/munge /var/lib/munge
	chmod 400 /etc/munge/munge.key
	chmod 755 /run/munge
	setpriv --reuid munge --regid munge --clear-groups munged --force 2>out/munged.log
}

state() { scontrol --oneliner show node "$1" | sed -n 's/.* State=\([^ ]*\).*/\1/p'; }
reason() { scontrol --oneliner show node "$1" | sed -n 's/.* Reason=//p'; }
is() { [[ $(state "$1") =~ $2 ]]; } # NODE PATTERN
change() { cp "$2" "/run/files/.new-$1" && mv "/run/files/.new-$1" "/run/files/$1"; } # NODE FILE

gone() { [[ ! -e $1 ]]; } # FILE

# slurmd_start NODE...: returns when each is in service.
slurmd_start() {
	local node
	for node in "$@"; do
		slurmd -N "$node"
	done
	for node in "$@"; do
		wait_for 600 is "$node" '^IDLE$' || { sinfo -N -l; false; }
	done
}

# checked NODE...: returns when each has been checked by a check that began after this call.
checked() {
	local node now
	printf -v now '%(%s)T' -1
	for node in "$@"; do wait_for 900 has_checked "$node" "$now"; done
}
has_checked() { (($(tail -n 1 "/run/checks/$1" 2>/dev/null || echo 0) > $2)); }

# job [OPTION...]: starts one and prints its ID. Its start and its end leave a line each in out/job-ID; it ends when there is
# /run/end-ID or /run/end-all.
cat >/usr/local/bin/work <<'END_OF_JOB'
#!/bin/bash
echo "start $SLURMD_NODENAME" >>"/job/out/job-$SLURM_JOB_ID"
until [[ -e /run/end-$SLURM_JOB_ID || -e /run/end-all ]]; do sleep 0.5; done
echo "end $SLURMD_NODENAME" >>"/job/out/job-$SLURM_JOB_ID"
[[ $(cat "/run/end-$SLURM_JOB_ID" 2>/dev/null) != oom ]] || use_memory "job_$SLURM_JOB_ID"
END_OF_JOB
chmod +x /usr/local/bin/work
job() { sbatch --parsable --output=/dev/null "$@" /usr/local/bin/work; }
has() { [[ $(cat "out/job-$1" 2>/dev/null) == *"$2"* ]]; } # JOB TEXT
