#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, as root on this machine, what the options do of run and trace that no test in a guest uses.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || { echo "only root may write to /dev/kmsg" && exit 77; }
[[ -w /dev/kmsg && -e /sys/kernel/btf/vmlinux ]] || { echo "this machine has no /dev/kmsg, or no BTF" && exit 77; }
die() {
	fail "$@"
	exit 1
}

# A device that nobody else reports, nor an earlier run of this test, whose line may still be in the kernel log.
gpu=$(printf '%04x:%02x:1f' $RANDOM $((RANDOM % 256)))
run() { "$program" run --output x.prom --state state --hooks gpu --accept-user-kmsg --events none --duration 0.3s --keep "$@"; }
trace() { "$program" trace --hooks gpu --duration 0.1s "$@"; }
recent() { sed -n "s/^xidscope_gpu_xid_recent_incidents{gpu=\"$gpu.0\",.*} //p" x.prom; }

echo "<3>NVRM: Xid (PCI:$gpu): 79, pid=1, name=x, GPU has fallen off the bus." >/dev/kmsg
run
grep -q "^fault $gpu.0 79 " state || die "the fault is not in the state file"
! grep 'xidscope_program_run' x.prom || die "runs of programs are counted without --program-stats"

# The same fault, 100 s earlier. The state file ends with its CRC-32.
awk '/^end/ { exit } /^fault/ { $9 = sprintf("%.6f", $9 - 100); $10 = sprintf("%.6f", $10 - 100) } { print }' state >body
printf 'end %s\n' "$(gzip -c body | tail -c 8 | od -An -N4 -tx4 --endian=little | tr -d ' ')" | cat body - >earlier
cp earlier state
run --recent 24h
[[ $(recent) == 1 ]] || die "with --recent 24h: $(recent) recent incidents, not 1"
cp earlier state
run --recent 60s
[[ $(recent) == 0 ]] || die "with --recent 60s: $(recent) recent incidents, not 0"

run --program-stats --duration 1s &
while kill -0 $! 2>/dev/null; do # the kernel runs the program for each message
	echo "<7>a message" >/dev/kmsg
	sleep 0.1
done
grep -q '^xidscope_program_runs_total{program="printk_console"} ' x.prom || die "no runs of programs with --program-stats"

# expect_messages PATTERN COMMAND OPTION...: all of its messages are in this form, and there are some.
expect_messages() {
	"${@:2}" 2>messages >/dev/null
	[[ -s messages ]] || die "${*:2} prints no message"
	! grep -v "$1" messages || die "${*:2} prints messages in another form"
}
plain='^xidscope: '
json='^{"time":"[^"]*","level":"[a-z]*","message":".*"}$'
expect_messages "$plain" run --log text
expect_messages "$plain" trace --log text
expect_messages "$json" run --log json
expect_messages "$json" trace --log json
run 2>&1 | grep 'debug: ' && die "run prints details without --verbose"
trace 2>&1 | grep 'debug: ' && die "trace prints details without --verbose"
run --verbose 2>&1 | grep 'debug: libbpf: ' >/dev/null || die "run --verbose prints no message of libbpf"
trace --verbose 2>&1 | grep 'debug: libbpf: ' >/dev/null || die "trace --verbose prints no message of libbpf"
echo "--recent, --program-stats, --verbose and --log do what they are for"
