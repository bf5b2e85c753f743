# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Faults from before the start count, with their own times. Killed in the middle of a storm and started again, the agent
# has counted once each line that the log still holds, and reports how many records it has lost. Two processes of one job
# are one incident, a job of its own is another.
need_drivers
driver_load text
for i in $(seq 20); do
	before=$EPOCHREALTIME
	driver "raw NVRM: Xid (PCI:0000:e0:00): $((200 + i)), pid=$i, name=early, something"
	echo "$before $EPOCHREALTIME" >>./times
	sleep 0.1
done
sleep 2
agent_start --hooks gpu --state state --events early.json
cp x.prom early.prom
agent_stop

# Killed a few seconds into bursts, and once more just after a line.
agent_start --hooks gpu --state state --events killed.json
slow() { driver "raw NVRM: Xid (PCI:0000:e3:00): $1, pid=9, name=slow, something"; }
for i in {0..32}; do slow $((500 + i % 3)); done
agent_write # with the state
slow 503
wait_for 60 says killed.json '"xid":503'
kill -KILL "${agent:?}"
wait "$agent" || true
agent_start --hooks gpu --state state --events killed.json
agent_settle 3
agent_write killed
agent_stop
agent_start --hooks gpu --state state --events again.json
cp x.prom again.prom

# One key per thousand lines, to show which were counted.
for i in $(seq 100); do
	echo "count 1000 raw NVRM: Xid (PCI:0000:e1:00): $((300 + i)), pid=%d, name=storm, something"
done >commands
cat commands >/proc/xidscope-driver &
storm=$!
sleep "${STORM_SECONDS:-0.5}"
kill -KILL "${agent:?}"
wait "$agent" || true
wait "$storm"
dmesg | grep -o 'PCI:0000:e1:00): [0-9]*' | sort | uniq -c >held-by-key || true
agent_start --hooks gpu --state state --events after.json
agent_settle 3
agent_write after
agent_stop

# A damaged state file is set aside.
echo nonsense >>state
agent_start --hooks gpu --state state --events damaged.json
cp x.prom damaged.prom
test -e state.damaged
for job in one one another; do
	mkdir -p "/sys/fs/cgroup/$job"
	sleep 300 &
	defer kill $!
	echo $! >"/sys/fs/cgroup/$job/cgroup.procs"
	sleep 1 # a process that seems to have begun after the message is another
	driver "raw NVRM: Xid (PCI:0000:e2:00): 31, pid=$!, name=sleep, Ch 00000008, MMU Fault"
	sleep 5.5
done
agent_write jobs
agent_stop
