#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that each mistake of a first hour gets one line that names it and what to do, and the right exit code.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# ---- the command line ----
expect 2 "" "xidscope: unknown command 'trce'; did you mean trace?" trce
expect 2 "" "xidscope: unknown option '--intervall'; did you mean --interval?" run --intervall=5
expect 2 "" "xidscope: unexpected argument '2m'; did you mean --duration 2m?" run 2m
expect 2 "" "xidscope: invalid --interval '15x': use seconds, or a number with s, m, h or d, from 0.1s to 1d" \
	run --interval 15x
# shellcheck disable=SC2013 # command names are words
for command in $("$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	expect 0 "Usage: xidscope $command*Examples:"$'\n'"  xidscope $command*" "" "$command" --help
	(($(sed -n '/^Examples:/,$p' out | grep -cE "^  xidscope (--)?$command") == 2)) || fail "$command --help has not two examples of its own"
	awk 'length > 80 { exit 1 }' out || fail "$command --help is wider than 80 columns"
done
expect 0 "*--max-age DURATION*" "" check --help
expect 0 "*"$'\n\n'"Options:"$'\n'"*--ignore RULES*" "" check --help
! grep -q -e --interval out || fail "check --help has options of run"

# ---- the metrics file ----
observe=(--hooks rpc --source mountstats --events none) # without privileges
expect 2 "" "xidscope: invalid --output 'x.txt': name a file that ends in .prom; node_exporter reads no others" run --output x.txt --duration 0.1
expect 0 "*# EOF" "*" run --output - --interval 15s --duration 0.1s "${observe[@]}"
expect 0 "" "*started in * ms, writing x.prom every 15 s*" run --output x.prom --duration 0.1s "${observe[@]}"
expect 1 "" "*cannot write no/x.prom: *error: --duration is over and no/x.prom was never written" \
	run --output no/x.prom --duration 0.2s "${observe[@]}"
! grep -q started err || fail "'started' before the first write"
if ((EUID == 0)) && unshare -m true 2>/dev/null; then
	mkdir ro
	cat >with_read_only <<-END
		#!/bin/sh
		exec unshare -m sh -c 'mount -t tmpfs -o ro tmpfs ro && exec "\$@"' sh "$program" "\$@"
	END
	chmod +x with_read_only
	program=$dir/with_read_only expect 1 "" "*cannot write ro/x.prom: Read-only file system; *ReadWritePaths=*" \
		run --output ro/x.prom --duration 0.2s "${observe[@]}"
fi

# ---- privileges, and the journal ----
if ((EUID == 0)); then
	for command in run trace; do
		status=0
		as_nobody $command 2>err || status=$?
		[[ $status == 4 ]] || fail "$command without privileges ends with $status"
		[[ $(<err) == "xidscope: error: must run as root or privileged; stopping" ]] || fail "it prints '$(<err)'"
	done
	as_nobody run --output - --duration 0.1s "${observe[@]}" >out 2>err || fail "mountstats alone needs privileges: $(<err)"
fi
if unshare -U -r true 2>/dev/null; then # BPF programs and the kernel log are refused there to all capabilities
	unshare -U -r "$program" run --output - --duration 0.1s --events none >out 2>err || fail "without BPF nothing is observed: $(<err)"
	[[ $(<err) == *"xidscope: error: faults are not observed: "* ]] || fail "it does not say that faults are not observed: $(<err)"
	status=0
	unshare -U -r "$program" run --hooks gpu --output - --duration 0.1s --events none >out 2>err || status=$?
	[[ $status == 4 ]] || fail "without anything to observe it ends with $status"
fi
JOURNAL_STREAM=$(stat -L -c %d:%i err) expect 1 "" "<3>xidscope: error: cannot read the policy file absent: *" \
	xid --xid-policy absent 79

((failed)) || echo "first mistakes are named"
exit $failed
