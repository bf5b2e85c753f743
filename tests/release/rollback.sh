#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, as root on this machine, that an agent and that of the version before continue from each other's state files,
# forth and back, while faults are logged: each is counted once, counts never fall, and there is no time without a file but
# for the change itself. So does a state file with faults of earlier boots. Needs what `make` and `make previous` leave. rollback.sh
set -euo pipefail
root=$(realpath "$(dirname "$0")/../..")
new=$root/build/xidscope old=$root/build/previous/root/usr/sbin/xidscope
# shellcheck source=tests/vm/lib.sh
. "$root/tests/vm/lib.sh"
[[ -x $new && -x $old ]] || die "run 'make' and 'make previous' first"
((!EUID)) || die "writing to /dev/kmsg needs root"
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-rollback.XXXXXX")
agent='' writer=''
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	[[ ! $writer ]] || kill "$writer" 2>/dev/null || true
	[[ ! $agent ]] || kill "$agent" 2>/dev/null || true
	wait
	rm -rf "$dir"
}
trap cleanup EXIT
cd "$dir"

# A device that nobody else reports.
gpu=$(printf '00fe:%02x:1f' $((RANDOM % 256)))
counted() { sed -n "s/^xidscope_gpu_xid_errors_total{gpu=\"$gpu.0\",.*} //p" x.prom 2>/dev/null || true; }
start() { # start PROGRAM
	"$1" run --output x.prom --state state --hooks gpu --accept-user-kmsg --interval 0.5s --events none 2>>log &
	agent=$!
	for _ in {1..600}; do
		! grep -qs "version=\"$("$1" version | sed 's/.* //')\"" x.prom || return 0
		kill -0 $agent 2>/dev/null || die "it has ended: $(tail -n 3 log)"
		sleep 0.1
	done
	die "no file after a minute: $(tail -n 3 log)"
}
stop() {
	kill "$agent"
	wait "$agent" || die "it ends with $?"
}
all_counted() {
	local _
	for _ in {1..600}; do
		[[ $(counted) != "$(<printed)" ]] || return 0
		sleep 0.1
	done
	die "$1: $(counted) faults are counted, $(<printed) were logged"
}

echo 0 >printed
while sleep 0.2 && [[ ! -e end ]]; do
	echo "<3>NVRM: Xid (PCI:$gpu): 79, pid=1, name=x, GPU has fallen off the bus." >/dev/kmsg
	echo $(($(<printed) + 1)) >printed.new
	mv printed.new printed
done &
writer=$!
# A state of an earlier boot with a fatal fault.
start "$new"
sleep 2
stop
sed "s/^boot .*/boot of-before/; \$d" state >body
printf 'end %s\n' "$(gzip -c body | tail -c 8 | od -An -N4 -tx4 --endian=little | tr -d ' ')" | cat body - >state

most=0 gap=0 agent=''
changes=("$new" "$old" "$new" "$old" "$new")
for i in "${!changes[@]}"; do
	[[ ! $agent ]] || stop
	from=$EPOCHREALTIME
	start "${changes[i]}"
	took=$((${EPOCHREALTIME/./} - ${from/./}))
	((took < gap)) || gap=$took
	sleep 2
	now=$(counted)
	((i)) || grep -q past state || die "no fault of an earlier boot is in the state file"
	((${now:-0} >= most)) || die "the count falls from $most to ${now:-0}"
	most=$now
done
touch end
wait $writer || true
writer=''
sleep 1
all_counted "after four changes"
(($(grep -c 'continuing from the state file' log) == 4)) || die "a state file was not read: $(grep state log)"
! grep -i 'damaged' log || die "a state file was refused"
stop
echo "$(<printed) faults, each counted once across $("$old" version | sed 's/.* //') and $("$new" version | sed 's/.* //'), forth and back; at most $((gap / 1000)) ms without a file"
