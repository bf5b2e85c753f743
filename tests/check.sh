#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs all tests, a line each, and ends with "N passed, N failed, N skipped, N forgiven"; the exit status is 0 if none
# failed. Forgiven are failures on kernels that may fail (tests/vm/kernels.tsv): shown, not counted as failures.
#   check.sh [--no-guests | --short]
# --no-guests: all that needs no guest. --short: of these, what is quick and needs no fuzzer.
# Outside guests no test loads BPF (guarded.py) or writes into the kernel log (kernel_log.py).
set -uo pipefail
top=$(realpath "$(dirname "$0")/..")
cd "$top" || exit
results=build/results
mkdir -p build
: >$results

mode=${1:-all}
log_begin=$(tests/kernel_log.py) || true # what went wrong is the last test's to report
if [[ $mode == all ]]; then
	# Guests whose times a busy machine does not change run beside all of these, the others when the lock is free.
	mkdir -p build/vm
	rm -f build/vm/outcomes
	exec {quiet}>build/vm/quiet
	flock "$quiet"
	tests/vm/check.sh {quiet}>&- &
	guests=$!
fi
trap 'kill $(jobs -p) 2>/dev/null' EXIT

# next: numbers the next test. The tests are gone through twice: the first time, in which it fails, only counts them.
total='' number=0
next() {
	number=$((number + 1))
	[[ $total ]]
}
# say TEXT: a result, now and for the end.
say() {
	echo "$1" >>$results
	echo "[$number/$total] $1"
}

# judge NAME COMMAND...: one test that is a command; exit status 77 means that it could not be run here.
judge() {
	next || return 0
	local name=$1 output status=0
	shift
	output=$(tests/guarded.py "$@" 2>&1) || status=$?
	case $status in
	0) say "ok $name" ;;
	77) say "skip $name: $(tail -n 1 <<<"$output")" ;;
	*) say "FAIL $name"$'\n'"$(tail -n 25 <<<"$output" | sed 's/^/    /')" ;;
	esac
}

# unit BINARY: all tests of one cmocka program.
unit() {
	next || return 0
	local name=${1##*/} output
	output=$(CMOCKA_MESSAGE_OUTPUT=TAP tests/guarded.py "$1" 2>&1)
	# A test program that dies prints fewer lines than its plan has.
	if ! grep -q '^1\.\.' <<<"$output" || (($(sed -n 's/^1\.\.//p' <<<"$output" | head -n 1) != $(grep -cE '^(not )?ok ' <<<"$output"))); then
		say "FAIL $name"$'\n'"$(tail -n 10 <<<"$output" | sed 's/^/    /')"
		return
	fi
	sed -nE "s/^ok [0-9]+ - (.*)/ok $name: \1/p; s/^not ok [0-9]+ # SKIP (.*)/skip $name: \1/p; s/^not ok [0-9]+ - (.*)/FAIL $name: \1/p" <<<"$output" >>$results
	echo "[$number/$total] ran $name: $(grep -c '^ok ' <<<"$output") passed"
	grep -E '^(not ok|#|ERROR: )' <<<"$output" | grep -vE '^# ok|^not ok [0-9]+ # SKIP' | sed 's/^/    /'
}

run_tests() {
	judge "includes go in allowed directions" tests/includes.py
	judge "what did not run fails" env PYTHONPATH=tests/vm /usr/bin/python3 -B -m judge.test_runner
	for source in tests/unit/test_*.c; do
		unit "build/tests/$(basename "$source" .c)"
	done
	judge "METRICS.md and the program agree" tests/docs/check_metrics.sh
	judge "the man page and the program agree" tests/docs/check_man.sh
	judge "each option has a test" tests/docs/check_options.py
	judge "HEALTH.md and the program agree" tests/docs/check_health.sh
	judge "the table of alerts and the rules agree" tests/docs/check_alerts.sh
	judge "the runbook's commands can be run" tests/docs/check_runbook.sh
	judge "a test runs each block of commands in DEPLOY.md" tests/docs/check_deploy.sh
	judge "the examples for remediation engines have known fields" tests/docs/check_remediation.py
	judge "jobs are killed before our pods when memory is full" tests/docs/check_oom.py
	judge "pages keep their length, and name files that exist" tests/docs/check_pages.sh
	judge "check and xid print the right text and exit code in each state" tests/cli/check_command.sh
	judge "the agent judges, and check follows" tests/cli/agent_health.sh
	judge "commands and options are completed in bash" tests/cli/completion.sh
	judge "first mistakes get one line and their exit code" tests/cli/first_mistakes.sh
	judge "paths of other files are refused, and output that nobody reads is lost alone" tests/cli/paths.sh
	judge "top shows what trace has, and status what the agent found" tests/cli/top.sh
	judge "recordings give their reports again" tests/cli/trace_files.sh
	judge "no output has control characters or bidirectional marks" tests/cli/safe_output.sh
	judge "the rehearsal's series are those of an agent" tests/fleet/check_inputs.py
	judge "readers accept a file with unusual label values" tests/readers/check.sh
	judge "systemd accepts the unit" deploy/systemd/check.sh
	[[ $mode != --short ]] || return 0
	for source in tests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		judge "inputs of $name" "build/tests/$name" -runs=0 "build/tests/inputs/${name#fuzz_}"
	done
	judge "the programs of make bench, growth and soak compile" make -s B=build build/{bench/load,soak-load}
	judge "acknowledgements are edited safely and follow the GPU" tests/cli/ack_command.sh
	judge "Slurm and node-problem-detector get the verdict" tests/cli/check_callers.sh
	judge "the page is drawn in a browser, if there is one" tests/page/check.sh
}
# What no busy machine changes: it runs beside the others.
run_beside() {
	judge "the scripts pass shellcheck" tests/lint.sh shellcheck
	judge "the Python sources pass flake8" tests/lint.sh flake8
	judge "the C sources are formatted" tests/lint.sh clang-format
	[[ $mode != --short ]] || return 0
	judge "a mount that hangs fails the check and holds nothing" tests/cli/hung_mount.sh
	judge "the alert rules fire when they should" deploy/prometheus/check.sh
	[[ $mode == all ]] || return 0
	judge "the dashboards are of the type that Grafana publishes" tests/fleet/grafana_types.sh
	judge "the chart gives kustomize's objects" tests/kubernetes/chart.sh
	judge "the workflows are in order" tests/release/workflows.sh
	judge "a dead storage system is one page, what else hangs is told, nothing more; the dashboards' queries find something" tests/fleet/live.sh
}
run_last() {
	judge "the tests wrote nothing into this machine's kernel log" tests/kernel_log.py "$log_begin"
}
run_tests
first=$number
run_beside
run_last
total=$number number=$first
run_beside &
beside=$!
number=0
run_tests
if [[ $mode == all ]]; then
	flock -u "$quiet"
	wait "$guests"
	if [[ -e build/vm/outcomes ]]; then
		cat build/vm/outcomes
	else
		echo 'FAIL the tests in guests ended early: see above'
	fi >>$results
fi
wait "$beside"
number=$((total - 1))
run_last

echo
grep -E '^(FAIL|FORGIVEN)' $results
echo "$(grep -c '^ok' $results) passed, $(grep -c '^FAIL' $results) failed, $(grep -c '^skip' $results) skipped, $(grep -c '^FORGIVEN' $results) forgiven"
! grep -q '^FAIL' $results
