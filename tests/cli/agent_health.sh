#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2053 # what is wanted is a pattern
# Proves that the agent judges by its own rules and writes the health file, that `check` follows a changed rule and is unknown
# without the agent, that an acknowledgement counts within a second, and that two agents do not write one file. Needs no
# privileges: it observes nothing.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

agent=''
stop() {
	[[ ! $agent ]] || { kill -TERM "$agent" && wait "$agent"; }
	agent=''
}
trap 'stop; rm -rf "$dir"' EXIT
observe=(--hooks rpc --source mountstats --events none --ack "$dir/acks")
agent_start() { # OPTION...
	stop
	"$program" run "${observe[@]}" --output agent.prom --health health "$@" 2>log &
	agent=$!
	within 50 test -e health || fail "the agent writes no health file: $(<log)"
}
no_file() { [[ ! -e health && ! -e .health.lock && ! -e .health.tmp ]] || fail "the agent leaves $(ls -A)"; }
has() { [[ $("$program" check --health health 2>&1) == $1 ]]; } # PATTERN

agent_start --gpus 200
expect 2 "XIDSCOPE CRITICAL: The driver has 0 of 200 GPUs. *" "" check --health health
[[ $(stat -c %a health) == 644 ]] || fail "others cannot read the health file"
agent_start --gpus 200 --rule gpus_missing=warn --window 1h
expect 1 "XIDSCOPE WARNING: The driver has 0 of 200 GPUs. *" "" check --health health
expect 0 "XIDSCOPE OK: *" "" check --health health --ignore gpus_missing
expect 0 "snoozed gpus_missing on all devices until *" "" ack --ack acks --health health '*' gpus_missing --until 1h
within 100 has "XIDSCOPE OK: *" || fail "an acknowledgement does not count before the next interval: $("$program" check --health health)"
expect 0 "removed *" "" ack --ack acks --health health --remove '*' gpus_missing
within 100 has "XIDSCOPE WARNING: *" || fail "nor does its end"
echo 'gpu0 79 1' >acks
kill -HUP "$agent"
within 100 has "XIDSCOPE UNKNOWN: the acknowledgements: $dir/acks: line 1: *" || fail "a damaged acknowledgement is overlooked"
within 100 grep -q 'until then the health is unknown' log || fail "the agent does not say so: $(<log)"
rm acks
kill -HUP "$agent"
within 100 has "XIDSCOPE WARNING: *" || fail "it stays unknown"
expect 3 "" "xidscope: error: another agent writes health: stop it, or name another --health" \
	run "${observe[@]}" --output other.prom --health health
has "XIDSCOPE WARNING: *" || fail "the other agent has removed the file"
grep -q '^xidscope_node_health{check="gpus_missing"} 1' agent.prom || fail "node_health lacks a rule"
kill -STOP "$agent"
sleep 1.2
expect 3 "XIDSCOPE UNKNOWN: health is [0-9]* s old: *" "" check --health health --max-age 1
kill -CONT "$agent"
stop
expect 3 "XIDSCOPE UNKNOWN: cannot read health: No such file or directory: *" "" check --health health
no_file
# without a file
begin_without() {
	"$program" run "${observe[@]}" --duration 0.3 "$@" >/dev/null 2>log || fail "$*: $(<log)"
}
begin_without --output agent.prom --health none
begin_without --output - # an agent started by hand does not replace the service's file
no_file
expect 2 "" "xidscope: error: --health $dir: it is a folder*" run "${observe[@]}" --output agent.prom --health "$dir"
expect 2 "" "xidscope: --output and --health need different files; *" run --output x.prom --health x.prom

((failed)) || echo "the agent judges, and check follows"
exit $failed
