# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is missing when the agent starts is attached later: tracefs once it is mounted, if the driver's tracepoint is needed,
# and /dev/kmsg once it can be opened, at once when the driver is loaded. It is logged once. A number of a process that another has
# got since names no pod.
need_drivers
hide_tracefs() { # also where debugfs would mount it
	umount -l /sys/kernel/tracing
	! mountpoint -q /sys/kernel/debug || umount -l /sys/kernel/debug
}
show_tracefs() { mount -t tracefs tracefs /sys/kernel/tracing; }
! mountpoint -q /sys/kernel/debug || defer mount -t debugfs debugfs /sys/kernel/debug
defer sh -c 'test -d /sys/kernel/tracing/instances || mount -t tracefs tracefs /sys/kernel/tracing'
defer sh -c 'test -e /dev/kmsg || mv /dev/kmsg.away /dev/kmsg'
xid() { driver "xid 0000:$1:00.0 79 GPU has fallen off the bus."$'\t'"NVRM: Xid (PCI:0000:$1:00): 79, pid=7, name=py, GPU has fallen off the bus."; }

hide_tracefs
agent_start --hooks gpu --events events.json
cp x.prom begin.prom
show_tracefs
driver_load tracepoint
patience=1 wait_for 40 driver_watched # less than a minute: at once
xid a1
agent_settle 3
agent_write loaded
agent_stop
mv agent.log loaded.log

hide_tracefs
mv /dev/kmsg /dev/kmsg.away
agent_start --hooks gpu --events events.json
cp x.prom without.prom
xid a2
agent_settle 3
agent_write blind
mv /dev/kmsg.away /dev/kmsg
show_tracefs
attached() {
	agent_write
	grep -q 'hook_attached{hook="kernel_log"} 1' x.prom
}
begin=$SECONDS
wait_for 90 attached
wait_for 90 driver_watched
echo $((SECONDS - begin)) >seconds
xid a3
agent_settle 3
agent_write minute

# A process reports a fault and ends; another gets its number before the agent has read the line. Then one that lives on.
defer rmdir /sys/fs/cgroup/{before,after}
report() { # by the calling process, in text and by the driver's report
	driver "xid 0000:$1:00.0 31 MMU Fault"$'\t'"NVRM: Xid (PCI:0000:$1:00): 31, pid=$BASHPID, name=job, MMU Fault"
}
kill -STOP "${agent:?}"
(
	join_group before
	report a4
	echo "$BASHPID" >first.pid
)
first=$(<first.pid)
for _ in {1..50}; do
	echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
	(
		join_group after
		echo "$BASHPID" >second.pid
		exec sleep 20
	) &
	second=$!
	sleep 0.1
	[[ $(<second.pid) != "$first" ]] || break
	kill "$second"
done
(
	join_group before
	sleep 0.2
	report a5
	exec sleep 20
) &
third=$!
sleep 1
kill -CONT "$agent"
sleep 4
kill "$second" "$third"
wait "$second" "$third" || true
fill_log
agent_stop
