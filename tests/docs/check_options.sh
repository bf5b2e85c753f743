#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that for each option of each command a test in tests/cli or tests/vm calls the command with it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

needs_program
# Without comments, and with continued lines joined. Completion names options and uses none.
find tests/cli tests/vm -name '*.sh' ! -name completion.sh -exec sed -e '/^[[:space:]]*#/d' -e ':a; /\\$/ { N; s/\\\n//; ba }' {} + >"$work/tests"
count=0
# shellcheck disable=SC2013 # command names are words
for command in $("$program" help | awk '/^Commands:/ { part = 1; next } /^$/ { part = 0 } part { print $1 }'); do
	callers=$command
	case $command in
	run) callers+='|agent_start|agent_in|later' ;;
	trace) callers+='|trace_begin' ;;
	esac
	while read -r option; do
		count=$((count + 1))
		grep -qE -e "(^|[^a-z-])($callers)( |\).* ).*$option([^a-z-]|$)" "$work/tests" ||
			complain "no test in tests/cli or tests/vm calls xidscope $command $option"
	done < <("$program" "$command" --help | awk '$1 ~ /^--/ && $1 != "--help" && /^  -/ { print $1 }')
done
[[ -z $failed ]] || exit 1
echo "check_options.sh: $count options have a test"
