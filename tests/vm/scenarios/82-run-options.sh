# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What those options of run and trace do that no other scenario uses.
die() {
	echo "$*"
	exit 1
}
gpu=0000:fe:1f # nobody else reports it
options=(--output x.prom --state state --hooks gpu --accept-user-kmsg --events none --duration 0.3s --keep)
run() { /job/xidscope run "${options[@]}" "$@"; }
trace() { /job/xidscope trace --hooks gpu --duration 0.1s "$@"; }

echo "<3>NVRM: Xid (PCI:$gpu): 79, pid=1, name=x, GPU has fallen off the bus." >/dev/kmsg
run
grep -qF "{\"device\":\"$gpu.0\",\"code\":79," state || die "the fault is not in the state file"
! grep xidscope_program_run x.prom || die "runs of programs have samples, and the kernel counts none"

set_value /proc/sys/kernel/bpf_stats_enabled 1
run --duration 1s &
while kill -0 $! 2>/dev/null; do # the kernel runs the program for each message
	echo "<7>a message" >/dev/kmsg
	sleep 0.1
done
grep -q '^xidscope_program_runs_total{program="printk_console"} ' x.prom || die "no runs of programs"

# expect_messages PATTERN COMMAND OPTION...: all of its messages are in this form, and there are some.
expect_messages() {
	"${@:2}" 2>messages >/dev/null
	[[ -s messages ]] || die "${*:2} prints no message"
	! grep -v "$1" messages || die "${*:2} prints messages in another form"
}
plain='^xidscope: '
json='^{"time":"[^"]*","level":"[a-z]*","message":".*"}$'
expect_messages "$plain" run --log text
expect_messages "$json" run --log json
! run 2>&1 | grep 'debug: ' || die "run prints details without --verbose"
! trace 2>&1 | grep 'debug: ' || die "trace prints details without --verbose"
run --verbose 2>&1 | grep 'debug: libbpf: ' >/dev/null || die "run --verbose prints no message of libbpf"
trace --verbose 2>&1 | grep 'debug: libbpf: ' >/dev/null || die "trace --verbose prints no message of libbpf"
