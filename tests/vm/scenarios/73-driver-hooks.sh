# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Drivers with a tracepoint and with text alone give the same events, each once. The driver
# is unloaded, and another build of it loaded, while the agent runs; also in the middle of its faults.
need_drivers
agent_start --hooks gpu --events events.json
driver() { printf '%b\n' "$@" >/proc/xidscope-driver; }
for round in 1 2; do
	for build in tracepoint text; do
		# A driver that comes back is attached again; text has no hook.
		[[ $build$round != text2 ]] || continue
		driver_load "$build"
		sleep 1
		agent_write "$build-$round-before"
		driver 'xid 0000:c1:00.0 79 GPU has fallen off the bus.\tNVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=py, GPU has fallen off the bus.' \
			'xid 0000:c2:00.0 31 Ch 8, MMU Fault\tNVRM: Xid (PCI:0000:c2:00): 31, pid=8, name=a b, Ch 8, MMU Fault' \
			'xid 0000:c2:00.0 31 Ch 8, MMU Fault\tNVRM: Xid (PCI:0000:c2:00): 31, pid=8, name=a b, Ch 8, MMU Fault' \
			'sxid 0000:c3:00.0 20034 Fatal, Link 48\tnvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48'
		# As where the driver is configured not to print.
		driver 'xid 0000:c4:00.0 48 DBE in silence'
		agent_settle 2.5
		agent_write "$build-$round-after"
		module_remove nvidia
	done
done

agent_write reload-before
for code in 61 62 63; do
	insmod /job/modules/tracepoint/nvidia.ko
	driver "count 200 xid 0000:c5:00.0 $code in a load\\tNVRM: Xid (PCI:0000:c5:00): $code, pid=9, name=c, in a load"
	rmmod nvidia
done
agent_settle 2.5
agent_write reload-after
agent_stop
