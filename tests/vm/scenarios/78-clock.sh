# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The clock is put back and forward by hours, while the agent runs and while it does not: times of faults move along,
# recoveries stay later than what they clear, the health file stays fresh, and an acknowledgement does not hide. The agent is in a
# time namespace of its own, whose offsets the kernel's times do not have.
need_drivers
driver_load text
fill_log
sum() { awk "BEGIN { printf \"%.3f\", $* }"; }
origin() { # when, by the clock as it is set, the machine was booted
	local uptime
	read -r uptime _ </proc/uptime
	sum "$EPOCHREALTIME" - "$uptime"
}
set_clock() { date -s "@$1" >/dev/null; }
defer sh -c "date -s @\$(awk -v origin=$(origin) '{ printf \"%.3f\", origin + \$1 }' /proc/uptime)"
move() { set_clock "$(sum "$EPOCHREALTIME" + "$1")"; }
look() { # look NAME: verdict on the file as it is, and the clock
	local name=$1 status=0
	origin >"$name.origin"
	cp -p x.prom "$name.prom"
	/job/xidscope check --health health.json --json >"$name.json" || status=$?
	echo "$status" >"$name.status"
}
write() { # write NAME: the same of a new file
	sleep 1.5 # the agent looks at the clock every second
	agent_write
	look "$1"
}
start() { agent_start --hooks gpu --state "$PWD/state" --events events.json --window 1h; }
mkdir -p /sys/fs/cgroup/system.slice/slurmstepd.scope/job_71
unshare --time --monotonic 5000 --boottime 100000 sleep infinity &
worker=$!
defer kill "$worker"
wait_for 20 grep -qx sleep "/proc/$worker/comm"
# shellcheck disable=SC2034 # agent_start uses it
agent_under=(nsenter "--time=/proc/$worker/ns/time_for_children")
echo "$worker" >/sys/fs/cgroup/system.slice/slurmstepd.scope/job_71/cgroup.procs
fault() { driver "raw NVRM: Xid (PCI:0000:$1:00): 79, pid=$worker, name=train, GPU has fallen off the bus."; }

start
before=$EPOCHREALTIME
fault c1
echo "$before $EPOCHREALTIME" >fault.times
sleep 3
write first
move -7200
look future
write back
time=$(grep -o '[0-9]\{4\}-[0-9-]*T[0-9:]*Z' back.json | head -n 1)
echo "* 79 $time seen" >acks
agent_write
look acknowledged
move -3600
write earlier # taken from a fault by a clock that is set otherwise now: no acknowledgement
move 3600
write again
move 10800
write forward
rm acks

# While it does not run.
agent_stop
move 18000
start
write down-forward
agent_stop
move -36000
start
write down-back

# A recovery stays after the fault.
sleep 5
rmmod nvidia
driver_load text
write recovered
move -7200
write recovered-back
agent_stop
move 14400
start
write recovered-down
fault c2
sleep 3
write anew
fill_log
agent_stop
