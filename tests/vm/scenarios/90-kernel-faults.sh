# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A module warns, damages memory, spins and loops in the kernel, and at last kills its task, each on behalf of a job. It is the
# last scenario of its guest: the kernel is not whole afterwards.
need_drivers
insmod /job/modules/text/nvidia.ko # the agent looks for tasks that hang in it
insmod /job/modules/text/nvidia_uvm.ko
agent_start --interval 5 --events events.json
# damage JOB CPU COMMAND: writes it to the module, on that CPU, in a control group as Slurm gives to the job.
damage() {
	join_group "system.slice/slurmstepd.scope/job_$1"
	exec bash -c 'taskset -pc "$1" $$ >/dev/null; echo "$2" >/proc/xidscope-broken' - "$2" "$3"
}
# found RULE TEXT: the health file has such a finding.
look() { /job/xidscope check --json --health health.json >check.json || true; }
found() { look && grep -q "\"rule\": *\"$1\".*${2:-}" <(tr -d '\n' <check.json | sed 's/{/\n{/g'); }
# begin: what follows begins now. find NAME RULE TEXT: waits for it, and keeps as NAME what check said, and how long it took.
begin() { begin=$EPOCHSECONDS; }
find() {
	pause=${pause:-1} wait_for 120 found "$2" "${3:-}"
	cp check.json "$1.json"
	echo $((EPOCHSECONDS - begin)) >"$1.seconds"
}
# busy JOB CPU COMMAND: begins what lasts until idle ends it.
busy() {
	begin
	damage "$@" &
	spinner=$!
}
idle() {
	kill -KILL "$spinner"
	wait "$spinner" || true
	begin
}
rcu=/sys/module/rcupdate/parameters

set_value /proc/sys/kernel/hung_task_timeout_secs 0 # the agent's own look finds it
damage 76 0 hang &
begin
hung=$begin
(damage 70 0 warn)
(damage 70 0 refcount)
find damaged kernel_damaged refcount

# A CPU that spins: the watchdog reports it at twice this threshold, and again.
set_value /proc/sys/kernel/watchdog_thresh 5
set_value $rcu/rcu_cpu_stall_suppress 1
busy 71 1 spin
find stall cpu_stall cpu1
find stuck cpu_stuck cpu1
idle

# Without that watchdog RCU reports it.
set_value /proc/sys/kernel/soft_watchdog 0
put_value $rcu/rcu_cpu_stall_suppress 0
set_value $rcu/rcu_cpu_stall_timeout 5
busy 72 0 spin
find rcu cpu_stall cpu0
idle
put_value $rcu/rcu_cpu_stall_suppress 1

# A task that gives up its CPU is noticed by no watchdog.
busy 74 0 loop
pause=10 find loop cpu_stall "kernel_spin of cpu0" # looking takes CPUs as well
idle
begin=$hung
find hang gpu_stuck

# All is over, five minutes after the last report. A task that is hardly ever seen outside the kernel makes system calls: getrandom.
getrandom=318
[[ $(uname -m) != aarch64 ]] || getrandom=278
taskset 2 perl -e "\$b = 'x' x (1 << 20); syscall $getrandom, \$b, 1 << 20, 0 while 1" &
calls=$!
over() { ! found '[cg]pu_st[a-z]*'; }
pause=10 wait_for 400 over
find over kernel_damaged
kill -KILL $calls

# Both kill the task. A list that is not whole only warns on some kernels.
set_value /proc/sys/kernel/panic_on_oops 0 # guests are booted with 1
begin
(damage 75 0 corrupt) || true
find corrupt 'kernel_[a-z]*' uvm_broken_corrupt
begin
(damage 73 1 oops) || true
find oops kernel_oops uvm_broken_oops
agent_stop
dmesg >dmesg.txt
