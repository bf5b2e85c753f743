#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with Slurm's own daemons and the verdicts of a real agent, that a node that fails goes down and its job ends on
# another; that the job of one with a warning ends where it is; that recovery resumes; that a node drained by hand is left
# alone; that of twelve nodes which fail at once few are taken out; that a prolog fails for a failure alone; that an epilog
# names what ended its job; and that an acknowledgement holds for the agent's metric and for Slurm.
set -Eeuo pipefail
cd /job
# shellcheck source=tests/vm/deploy-lib.sh
. ./deploy-lib.sh
# shellcheck disable=SC2034 # that uses it
name=slurm
output=/run/xidscope.prom

# Twelve slurmd on one host, each with its own metrics file, which a healthy, failing, ... agent has written.
nodes=12
install xidscope xidscope-health-check /usr/local/sbin/
mkdir -p /etc/slurm /etc/munge /run/munge /var/log/munge /var/lib/munge /etc/xidscope /run/files /run/sys /job/out
cat >/usr/local/sbin/wrapper <<'END'
#!/bin/bash
exec /usr/local/sbin/xidscope-health-check --file "/run/files/$SLURMD_NODENAME" --max-age 1d
END
chmod +x /usr/local/sbin/wrapper
cat >/etc/xidscope/slurm <<'END'
XIDSCOPE_RESUME=1
XIDSCOPE_STABLE=0
XIDSCOPE_SYSFS=/run/sys
XIDSCOPE_SETTLE=5
XIDSCOPE_EVENTS=/job/out/xidscope.events
XIDSCOPE_WINDOW="30 60"
END
cat >/etc/slurm/slurm.conf <<END
ClusterName=guest
SlurmctldHost=guest
SlurmUser=root
AuthType=auth/munge
AuthInfo=cred_expire=40
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/slurmdbd
SwitchType=switch/none
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd.%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=/job/out/slurmctld.log
SlurmdLogFile=/job/out/slurmd.%n.log
SlurmdTimeout=600
MessageTimeout=60
ReturnToService=1
KillWait=5
SchedulerParameters=bf_interval=5,sched_interval=5
HealthCheckProgram=/usr/local/sbin/wrapper
HealthCheckInterval=30
HealthCheckNodeState=ANY
Prolog=/usr/local/sbin/wrapper
Epilog=/usr/local/sbin/wrapper
NodeName=n[1-$nodes] NodeHostname=guest NodeAddr=127.0.0.1 Port=[7001-$((7000 + nodes))] CPUs=1 State=UNKNOWN
PartitionName=batch Nodes=n[1-$nodes] Default=YES MaxTime=60 State=UP
END
cat >/etc/slurm/slurmdbd.conf <<'END'
AuthType=auth/munge
DbdHost=localhost
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
LogFile=/job/out/slurmdbd.log
PidFile=/run/slurmdbd.pid
END
chmod 600 /etc/slurm/slurmdbd.conf
echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf # which does nothing; v2 wants systemd
ip address add 10.9.9.1/32 dev lo # names are looked up only where there is another address than that of the loop
mkdir -p /var/spool/slurmctld
head -c 128 /dev/urandom >/etc/munge/munge.key
chown -R munge:munge /etc/munge /run/munge /var/log/munge /var/lib/munge
chmod 400 /etc/munge/munge.key
chmod 755 /run/munge

# ---- what the agent writes when a GPU fails, warns, recovers ----
step "the agent's files"
hup() { kill -HUP "$agent"; }
xidscope run --hooks gpu --output "$output" --interval 3600 --keep >out/slurm.events 2>out/slurm.log &
agent=$!
wait_for 120 test -s "$output"
# A busy agent notes late that the driver was loaded, which ends all that came before.
loads=0
load_driver() {
	insmod /job/nvidia.ko
	((++loads))
	wait_for 120 noted
	sleep 6
}
noted() { (($(grep -c "using the driver's tracepoint" out/slurm.log) >= loads)); }
refresh && cp "$output" healthy
load_driver
printf 'xid 0000:c2:00.0 58 memory\tNVRM: Xid (PCI:0000:c2:00): 58, pid=1, name=x, memory\n' >/proc/xidscope-driver
sleep 3 && refresh && cp "$output" warning
printf 'xid 0000:c1:00.0 79 gone\tNVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, gone\n' >/proc/xidscope-driver
sleep 3 && refresh && cp "$output" failing
[[ $(sum xidscope_node_health 'check="xid_fatal"') == 2 ]]
for i in $(seq $nodes); do cp healthy "/run/files/n$i"; done

step "an acknowledgement holds for the agent, and for check"
xidscope check --file failing >/dev/null && false
xidscope ack c1:00.0 79 --file "$output" --note test
refresh
[[ $(sum xidscope_node_health 'check="xid_fatal"') == 0 && $(sum xidscope_node_health 'check="xid_hardware"') == 1 ]]
xidscope check --style slurm --file failing | tee out/acknowledged | grep '^Xid 58 c2:00.0 \[xidscope warn\]'
xidscope ack --remove c1:00.0 79 --file "$output"
refresh
[[ $(sum xidscope_node_health 'check="xid_fatal"') == 2 ]]
sleep 6 # what comes just before a load of the driver would not be over by it
rmmod nvidia && load_driver && refresh
cp "$output" recovered
rmmod nvidia
kill "$agent" && wait "$agent"
xidscope check --file recovered

# ---- Slurm ----
step "the accounting starts"
setpriv --reuid munge --regid munge --clear-groups munged --force 2>out/munged.log
mkdir -p /run/mysqld
mariadb-install-db --user=root --datadir=/var/lib/mysql --auth-root-authentication-method=normal --skip-test-db >out/mariadb.log
mariadbd --user=root --datadir=/var/lib/mysql --skip-networking --innodb-flush-log-at-trx-commit=0 \
	--socket=/run/mysqld/mysqld.sock 2>>out/mariadb.log &
wait_for 120 test -S /run/mysqld/mysqld.sock
slurmdbd
add_cluster() { sacctmgr -i add cluster guest; }
wait_for 120 add_cluster 2>out/sacctmgr.log
step "Slurm starts: $(slurmctld -V)"
slurmctld
for i in $(seq $nodes); do slurmd -N "n$i"; done
state() { scontrol --oneliner show node "$1" | sed -n 's/.* State=\([^ ]*\).*/\1/p'; }
reason() { scontrol --oneliner show node "$1" | sed -n 's/.* Reason=//p'; }
is() { [[ $(state "$1") =~ $2 ]]; }
idle() { [[ $(sinfo -h -N -t idle -o %N | wc -l) == "$1" ]]; }
wait_for 300 idle $nodes || { sinfo -N -l; sinfo -R; false; }
change() { cp "$2" "/run/files/.new-$1" && mv "/run/files/.new-$1" "/run/files/$1"; } # NODE FILE

# job [OPTION...]: a start and an end leave a line each in out/job-ID.
cat >/usr/local/bin/work <<'END'
#!/bin/bash
echo "start $SLURMD_NODENAME" >>"/job/out/job-$SLURM_JOB_ID"
sleep 60
echo "end $SLURMD_NODENAME" >>"/job/out/job-$SLURM_JOB_ID"
END
job() { sbatch --parsable --requeue --output=/dev/null "$@" /usr/local/bin/work; }
has() { [[ $(cat "out/job-$1" 2>/dev/null) == *"$2"* ]]; } # JOB TEXT
free() { # all nodes in service again, without Slurm's daemons having to be asked twice
	local i
	for i in $(seq $nodes); do change "n$i" healthy; done
	for i in $(seq $nodes); do is "n$i" '^IDLE$' || scontrol update "NodeName=n$i" State=RESUME || true; done
	rm -rf /var/lib/xidscope/slurm
	wait_for 200 idle $nodes
}

step "a failing node goes down, and its job is requeued and ends on another"
failed=$(job)
wait_for 120 has "$failed" start
first=$(sed -n '1s/start //p' "out/job-$failed")
change "$first" failing
wait_for 120 is "$first" DOWN
[[ $(reason "$first") == "Xid 79 c1:00.0 [xidscope fail] GPU 0000:c1:00.0: Xid 79 "* ]]
[[ $(sinfo -R -h -o %20E) == *"Xid 79 c1:00.0"* ]]
wait_for 400 has "$failed" end || { squeue -l; scontrol show job "$failed"; false; }
second=$(sed -n 's/end //p' "out/job-$failed")
[[ $second != "$first" && $(grep -c end "out/job-$failed") == 1 ]]
cp "out/job-$failed" out/requeued

step "recovery resumes it, if its GPU is there"
change "$first" recovered
sleep 60
is "$first" DOWN
mkdir -p /run/sys/bus/pci/devices/0000:c{1,2}:00.0/driver
wait_for 120 is "$first" '^IDLE'

step "the job of a node with a warning ends where it is"
warned=$(job -w n4)
wait_for 120 has "$warned" start
change n4 warning
wait_for 120 is n4 DRAIN
[[ $(reason n4) == "Xid 58 c2:00.0 [xidscope warn] "* ]]
wait_for 200 has "$warned" "end n4"
[[ $(<"out/job-$warned") == $'start n4\nend n4' ]]
wait_for 60 is n4 'IDLE.DRAIN'
change n4 recovered
wait_for 120 is n4 '^IDLE$'

step "a node drained by hand is left alone, also when it has recovered"
scontrol update NodeName=n5 State=DRAIN Reason="maintenance by hand"
change n5 failing
sleep 65
is n5 '^IDLE.DRAIN'
[[ $(reason n5) == "maintenance by hand ["* ]]
change n5 recovered
sleep 65
is n5 '^IDLE.DRAIN'
scontrol update NodeName=n5 State=RESUME

step "a prolog fails for a failure alone"
prolog() { SLURM_SCRIPT_CONTEXT=prolog_slurmd SLURMD_NODENAME=n6 wrapper; }
change n6 warning && prolog
free
change n6 failing
if prolog; then false; fi
free

step "of twelve nodes that fail at once two are taken out, and no other job is harmed"
for i in $(seq $nodes); do jobs[i]=$(job -w "n$i"); done
for i in $(seq $nodes); do wait_for 200 has "${jobs[i]}" start; done
for i in $(seq $nodes); do change "n$i" failing; done
sleep 70
taken() { sinfo -h -N -o '%N %T %E' | grep -c '\[xidscope fail\]'; }
sinfo -h -N -o '%N %T %H %E' | tee out/fleet | cut -c1-60
(($(taken) == 2)) || { sleep 60 && sinfo -h -N -o '%N %T %H %E' | cut -c1-60; }
(($(taken) == 2))
sleep 30
(($(taken) == 2))
ended=0
for i in $(seq $nodes); do
	if wait_for 60 has "${jobs[i]}" "end n$i"; then ((++ended)); fi
done
echo "$ended of $nodes jobs ended where they began"
((ended == nodes - 2))
for i in $(seq $nodes); do (($(grep -c start "out/job-${jobs[i]}") <= 2)); done

# ---- what ended a job ----
# The events are real, and the job's window is 30 s before its end to 60 s after it. An OOM kill names its job by the control
# group, which Slurm needs systemd for: the job makes one at the place where Slurm has it.
cat >/usr/local/bin/until-told <<'END'
#!/bin/bash
echo "start $SLURMD_NODENAME" >>"/job/out/job-$SLURM_JOB_ID"
until [[ -e /run/end-$SLURM_JOB_ID ]]; do sleep 0.5; done
[[ $(<"/run/end-$SLURM_JOB_ID") != oom ]] || use_memory "job_$SLURM_JOB_ID"
exit 1
END
cat >/usr/local/bin/use_memory <<'END'
#!/bin/bash
group=/sys/fs/cgroup/system.slice/${SLURMD_NODENAME:-n1}_slurmstepd.scope/$1
mkdir -p "$group"
for folder in /sys/fs/cgroup{,/system.slice,/system.slice/"${SLURMD_NODENAME:-n1}"_slurmstepd.scope}; do
	echo +memory >"$folder/cgroup.subtree_control"
done
echo 20M >"$group/memory.max"
echo $$ >"$group/cgroup.procs"
exec perl -e 'my $x; $x .= "x" x 1000000 while 1;'
END
chmod +x /usr/local/bin/{until-told,use_memory}
# begin_job: sets job. end_job WANTED [HOW]: ends it; its comment must begin so within a minute.
begin_job() {
	job=$(sbatch --parsable --no-requeue --output=/dev/null -w n7 /usr/local/bin/until-told)
	wait_for 120 has "$job" start
}
comment() { sacct -n -P -X -j "$job" -o AdminComment; }
commented() { [[ $(comment) == "xidscope: n7: $1: "* ]]; }
end_job() {
	echo "${2:-}" >"/run/end-$job"
	wait_for 120 commented "$1" || { comment; xidscope why --events /job/out/xidscope.events --last 5m; false; }
	echo "$1: $(comment)" | tee -a out/causes
}
gone() { [[ ! -e $1 ]]; }
completed() { wait_for 200 gone "/var/lib/xidscope/slurm/n7.job-$job"; }
logged() { grep -qsF -- "$1" /job/out/xidscope.events; }
step "the agent writes its event log"
free
for i in $(seq $nodes); do
	((i == 7)) || kill "$(<"/run/slurmd.n$i.pid")" # their checks would keep the guest busy
done
nfs_server_start
server=$(netns_client data 10.0.4)
NETNS=data nfs_mount 3 '' /mnt/data "$server"
dd if=/dev/zero of=/mnt/data/file bs=64k count=4 conv=fsync status=none
xidscope run --output /run/again.prom --interval 2 --events /job/out/xidscope.events 2>out/slurm.log &
agent=$!
wait_for 120 logged '"name":"start"'
insmod /job/nvidia.ko
sleep 10
fault() { printf 'xid 0000:c1:00.0 79 gone\tNVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, gone\n' >/proc/xidscope-driver; }

step "an Xid; an earlier one is none of the next job's"
begin_job
fault
end_job xid
sleep 35
begin_job
end_job none
sleep 65
fault # too late for it
completed
commented none
sleep 35

step "a PCIe error, after the end of the job"
inject info version # which loads what it needs
begin_job
end_job none
inject pcie_aer_inject_error lower MALF_TLP
completed
commented pcie_error || { comment && false; }
comment | tee -a out/causes
sleep 35

step "an OOM kill of this job, after one of another"
begin_job
use_memory job_999 || true
end_job oom_kill oom
[[ $(comment) == *" job $job"* ]]
sleep 35

step "a server that does not answer"
begin_job
tc -n data qdisc add dev eth0 root netem loss 100%
timeout 60 dd if=/dev/zero of=/mnt/data/file bs=64k count=4 conv=fsync status=none &
wait_for 60 logged '"kind":"nfs_stall"'
end_job nfs_stall
tc -n data qdisc del dev eth0 root
step "done"
