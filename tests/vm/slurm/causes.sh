#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the epilog, with Slurm's own daemons and accounting, names what ended a job out of Xid, PCIe error, OOM kill,
# NFS stall and none, with events of the same kinds outside the window. The events are real. The window is a minute before the
# job's end to 45 s after it. The runbook's command lists a job that failed.
set -Eeuo pipefail
cd /job
nodes=1
. ./slurm-lib.sh
events=/job/out/xidscope.events
slurm_configure
slurm_conf HealthCheckInterval=30 AccountingStorageType=accounting_storage/slurmdbd
cat >/etc/xidscope/slurm <<END
XIDSCOPE_EVENTS=$events
XIDSCOPE_WINDOW="60 45"
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

step "the accounting starts"
mkdir -p /run/mysqld
mariadb-install-db --user=root --datadir=/var/lib/mysql --auth-root-authentication-method=normal --skip-test-db >out/mariadb.log
mariadbd --user=root --datadir=/var/lib/mysql --skip-networking --innodb-flush-log-at-trx-commit=0 \
	--socket=/run/mysqld/mysqld.sock 2>>out/mariadb.log &
wait_for 600 test -S /run/mysqld/mysqld.sock
slurmdbd
add_cluster() { sacctmgr -i add cluster guest; }
wait_for 600 add_cluster &>out/sacctmgr.log

step "the agent writes its event log"
nfs_server_start
server=$(netns_client data 10.0.4)
NETNS=data nfs_mount 3 '' /mnt/data "$server"
dd if=/dev/zero of=/mnt/data/file bs=64k count=4 conv=fsync status=none
output=/run/agent.prom
xidscope run --output $output --interval 2 --events $events 2>out/slurm.log &
agent=$!
hup() { kill -HUP $agent; }
logged() { grep -qsF -- "$1" $events; }
wait_for 600 logged '"name":"start"'
wait_for 600 test -s $output
driver_load

step "Slurm starts: $(slurmctld -V)"
change n1 /run/xidscope/health.json
slurmctld
slurmd_start n1
# An OOM kill names its job by the control group, which Slurm needs systemd for: the job makes one at the place where Slurm
# has it.
cat >/usr/local/bin/use_memory <<'END'
#!/bin/bash
group=/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/$1
mkdir -p "$group"
for folder in /sys/fs/cgroup{,/system.slice,/system.slice/n1_slurmstepd.scope}; do
	echo +memory >"$folder/cgroup.subtree_control"
done
echo 20M >"$group/memory.max"
echo $$ >"$group/cgroup.procs"
# The agent reads the control group of a process that is there: on a busy machine that takes some time.
exec perl -e 'if (!fork) { my $x; $x .= "x" x 1000000 while 1 } sleep 10; wait; exit 137'
END
chmod +x /usr/local/bin/use_memory

# begin_job: sets job. end_job WANTED [HOW]: ends it, and waits until its comment names that.
begin_job() {
	job=$(job --no-requeue)
	wait_for 600 has "$job" start
}
comment() { sacct -n -P -X -j "$job" -o AdminComment; }
commented() { [[ $(comment) == "xidscope: n1: $1: "* ]]; }
becomes() { # SECONDS WANTED
	wait_for "$1" commented "$2" || { comment && xidscope why --events $events --since 5m && false; }
	echo "$2: $(comment)" | tee -a out/causes
}
end_job() {
	echo "${2:-}" >"/run/end-$job"
	becomes 600 "$1"
}
listed() { bash ./sacct >out/sacct && grep -q "^$job .*FAILED" out/sacct; }
completed() { wait_for 600 gone "/var/lib/xidscope/slurm/n1.job-$job"; }
past() { sleep 65; } # what has happened is before the window of a job that ends from here on

step "a server that does not answer"
begin_job
tc -n data qdisc add dev eth0 root netem loss 100%
dd if=/dev/zero of=/mnt/data/file bs=64k count=4 conv=fsync status=none &
wait_for 600 logged '"kind":"nfs_stall"'
end_job nfs_stall
tc -n data qdisc del dev eth0 root
wait_for 600 logged '"state":"end"'
past

step "an Xid; an earlier one is none of the next job's, nor is one that is too late"
begin_job
print_fault 1
wait_for 600 logged '"xid":79'
end_job xid
past
begin_job
end_job none
sleep 50
print_fault 2
completed
becomes 1 none
past

step "a PCIe error, after the end of the job"
inject info version # which loads what it needs
begin_job
end_job none
inject pcie_aer_inject_error lower MALF_TLP
completed
becomes 1 pcie_error
past

step "an OOM kill of this job, after one of another"
begin_job
use_memory job_999 || true
wait_for 600 logged job_999
end_job oom_kill oom
[[ $(comment) == *" job $job"* ]]

step "the runbook's command lists this job, which failed"
export NODE=n1
wait_for 600 listed
step "done"
