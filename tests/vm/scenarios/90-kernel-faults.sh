# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A module warns, damages memory, spins and loops in the kernel, and at last kills its task, each on behalf of a job. It is the
# last scenario of its guest: the kernel is not whole afterwards.
need_drivers
insmod /job/modules/text/nvidia_uvm.ko
agent_start --interval 5 --events events.json
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
# damage JOB CPU COMMAND: writes it to the module, on that CPU, in a control group as Slurm gives to the job.
damage() {
	local group=/sys/fs/cgroup/system.slice/slurmstepd.scope/job_$1
	mkdir -p "$group"
	bash -c 'echo $$ >"$1/cgroup.procs"; taskset -pc "$2" $$ >/dev/null; echo "$3" >/proc/xidscope-broken' - "$group" "$2" "$3"
}
# found RULE TEXT: the health file has such a finding.
look() { /job/xidscope check --json --health health.json >check.json || true; }
found() { look && grep -q "\"rule\": *\"$1\".*${2:-}" <(tr -d '\n' <check.json | sed 's/{/\n{/g'); }
# keep NAME SECONDS_BEFORE: what check said, and how long it took.
keep() {
	cp check.json "$1.json"
	echo $((SECONDS - $2)) >"$1.seconds"
}

damage 70 0 warn
damage 70 0 refcount
wait_for 60 found kernel_damaged
keep damaged $SECONDS

# A CPU that spins: the watchdog reports it at twice this threshold, and again.
set_value /proc/sys/kernel/watchdog_thresh 5
set_value /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress 1
begin=$SECONDS
damage 71 1 'spin 75' &
spinner=$!
wait_for 60 found cpu_stall cpu1
keep stall $begin
wait_for 90 found cpu_stuck cpu1
keep stuck $begin
wait "$spinner"

# Without that watchdog RCU reports it.
set_value /proc/sys/kernel/soft_watchdog 0
put_value /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress 0
set_value /sys/module/rcupdate/parameters/rcu_cpu_stall_timeout 5
begin=$SECONDS
damage 72 0 'spin 12' &
spinner=$!
wait_for 60 found cpu_stall cpu0
keep rcu $begin
wait "$spinner"
put_value /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress 1

# A task that gives up its CPU is noticed by no watchdog.
begin=$SECONDS
damage 74 0 'loop 120' &
spinner=$!
pause=5 wait_for 90 found cpu_stall "kernel_spin of cpu0" # looking takes CPUs as well
keep loop $begin
wait "$spinner"

# All is over, five minutes after the last report.
over() { ! found 'cpu_st[a-z]*' || { sleep 10 && false; }; }
wait_for 400 over
keep over $begin

begin=$SECONDS
set_value /proc/sys/kernel/panic_on_oops 0 # guests are booted with 1
damage 73 1 oops || true
wait_for 60 found kernel_oops
keep oops $begin
agent_stop
dmesg >dmesg.txt
