#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that run refuses, in one line and with exit status 2, a path of a file that it writes if something else than a regular
# file with one link is there, and leaves that as it is; and that it writes to pipes, under a limit of sizes, and if
# nobody reads standard error. Needs no privileges: it observes nothing.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
observe=(--hooks rpc --source mountstats --events none)
brief=("${observe[@]}" --duration 0.3)

# ---- refused at the start ----
mkdir folder.prom
mkfifo fifo.prom
touch victim linked
ln -s victim symlink.prom
ln linked hardlink.prom
declare -A why=([folder]='it is a folder' [fifo]='it is a device, a FIFO or a socket' [symlink]='it is a symbolic link'
	[hardlink]='it has several hard links')
listing() { stat -c '%n %i %f %h' ./*.prom victim linked; }
listing >before
for kind in "${!why[@]}"; do
	for option in --output --state --events; do
		other=(--output good.prom)
		[[ $option != --output ]] || other=()
		[[ $option != --state ]] || other+=(--hooks gpu) # has no state otherwise; it ends before it observes
		expect 2 "" "xidscope: error: $option $kind.prom: ${why[$kind]}; name a regular file with one link, or one that does not exist" \
			run "${brief[@]}" "${other[@]}" $option "$kind.prom"
	done
done
expect 2 "" "xidscope: error: --state $PWD/: it is a folder; *" run "${brief[@]}" --hooks gpu --output good.prom --state "$PWD/"
for options in "--state good.prom" "--events good.prom" "--state both --events both"; do
	# shellcheck disable=SC2086 # several words
	expect 2 "" "xidscope: * and * need different files; see xidscope run --help" run "${brief[@]}" --output good.prom $options
done
listing | diff before - || fail "what was there has changed"
[[ ! -e good.prom && -z $(find . -name '.*.lock' -o -name '.*.tmp' -o -name '*.damaged') ]] || fail "a file is left"

# ---- standard output and error ----
expect 0 "*# EOF*" "*" run --output - "${brief[@]}"
{ "$program" run --output - "${brief[@]}" 2>err || true; } | head -c 100 >out
[[ $(head -c 6 out) == '# TYPE' ]] || fail "a pipe got '$(<out)'"

# A limit of files' sizes costs the files that it forbids, and does not end the agent.
got=0
limited=$(ulimit -f 0 && exec "$program" run --output limited.prom "${brief[@]}" 2>&1) || got=$?
[[ $got == 1 && $limited == *"cannot write limited.prom: File too large;"* ]] || fail "with a limit it ends with $got: $limited"

# Where the caller has closed standard error, no file takes its number, and messages do not end up in it.
"$program" run --output closed.prom "${observe[@]}" --health closed.json --duration 30 2>&- &
agent=$!
within 200 test -s closed.json -a -e closed.prom
[[ $(head -c 1 closed.json) == '{' ]] || fail "the health file is $(<closed.json)"
kill -TERM $agent
wait $agent || fail "with standard error closed it fails"

# Nobody reads standard error: what is lost is counted, and the agent goes on.
mkfifo full
# shellcheck disable=SC2034 # it stays open
exec {held}<>full
timeout 1 head -c 1M /dev/zero >full
timeout 60 "$program" run --output full.prom "${observe[@]}" --interval 0.5 --duration 2 --keep 2>full || fail "it ends with $?"
lost=$(sed -n 's/^xidscope_events_dropped_total{reason="messages"} //p' full.prom)
((lost >= 1)) || fail "$lost messages lost"

((failed)) || echo "paths of other files are refused, and nobody needs to read standard error"
exit $failed
