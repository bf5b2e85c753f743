# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Users who print faster than the agent reads, without end, neither delay a fault, nor the metrics file, nor the agent's end.
need_drivers
driver_load tracepoint
set_value /proc/sys/kernel/printk '1 4 1 7' # a console would slow them down
agent_start --hooks gpu --events events.json
cp x.prom begin.prom
# Texts of many lengths, which the hook and the log lose in part: the agent compares what is left of both.
print='my ($d, $f, $t) = ("none", "/mnt", "tmpfs");
	my @o = map { sprintf("NVRM: Xid (PCI:0000:%02x:00): 79 ", $_) . "y" x ($ARGV[0] + 37 * $_) } 1 .. 9;
	while (1) { syscall(165, $d, $f, $t, 0, $_) for @o }'
floods=()
for length in 200 500; do
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare -U -r -m perl -e "$print" $length &
	floods+=($!)
	defer kill $!
done
# shellcheck disable=SC2154 # agent_start sets it
ticks() { awk '{ print $14 + $15 }' "/proc/$agent/stat"; }
before=$(ticks)
sleep 5
echo "cpu $((($(ticks) - before) * 1000 / $(getconf CLK_TCK) / 5))" >milliseconds # in a second
begin=$(date +%s%3N)
driver 'xid 0000:c1:00.0 79 GPU has fallen off the bus.'$'\t''NVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=x, GPU has fallen off the bus.'
wait_for 30 grep -q '"xid",.*0000:c1:00.0' events.json
echo "fault $(($(date +%s%3N) - begin))" >>milliseconds
agent_write flood
begin=$(date +%s%3N)
agent_stop
echo "end $(($(date +%s%3N) - begin))" >>milliseconds
kill -0 "${floods[@]}" # they go on
