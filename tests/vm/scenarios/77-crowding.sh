# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A flood of faults of made-up devices and codes hides no real fault: number, severity and action stay, the verdict is
# critical, also after a restart; and only what holds for all that have folded clears it. What the hooks' buffers lose while
# nobody reads them is counted.
need_drivers
driver_load text
fill_log # nothing of earlier scenarios
agent_start --hooks gpu --state "$PWD/state" --events events.json
cp x.prom begin.prom
pieces() { # pieces COUNT FORMAT: so many lines, as fast as the agent reads them
	local i
	for ((i = 0; i < $1; i += 250)); do
		seq "$i" $((i + 249)) | awk -v format="raw $2\n" '{ printf format, $1, $1 }' >/proc/xidscope-driver
		sleep 0.5
	done
}
judge() { check_faults "$1" --ignore xid_repeat "${@:2}"; }
pieces 1250 'NVRM: Xid (PCI:%04x:01:00): 13, pid=%d, name=flood, Graphics Exception'
pieces 1000 'nvidia-nvswitch0: SXid (PCI:%04x:02:00.0): 4%04d, Non-fatal, Link 48' # codes of no catalog
judge flood
driver 'raw NVRM: Xid (PCI:0000:d0:00): 79, pid=7, name=train, GPU has fallen off the bus.' \
	'raw nvidia-nvswitch0: SXid (PCI:0000:d1:00.0): 20034, Fatal, Link 48' \
	'raw NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:d0:00 (printing 1 of every 30).  The GPU likely needs to be reset.'
judge fault
agent_stop
agent_start --hooks gpu --state "$PWD/state" --events events.json
judge restarted

# The recovery of one device does not clear what is known of no device.
driver 'raw NVRM: Xid (PCI:0000:d0:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)'
judge recovered
echo "other * $(date +%s) seen" >acks
judge acknowledged --ignore gsp_rate_limited
rm acks
sleep 5
rmmod nvidia
driver_load text
judge loaded

rmmod nvidia
driver_load tracepoint
wait_for 60 driver_watched
kill -STOP "${agent:?}"
driver 'count 3000 xid 0000:c1:00.0 31 MMU Fault'$'\t''NVRM: Xid (PCI:0000:c1:00): 31, pid=7, name=job, MMU Fault'
bpftool -j map dump name printk_b.bss >printk.json || true # there is none where the hook is detached
bpftool -j map dump name kernel_e.bss >trace_events.json
kill -CONT "$agent"
agent_settle 3
agent_write full
fill_log
agent_stop
