#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that in bash each command, and each option that the help of its command shows, can be completed, and nothing else.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

mapfile -t commands < <("$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
((${#commands[@]} >= 9)) || fail "found no commands in the help: has its form changed?"
options_of() { "$program" "$1" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'; }

# offers EXPECTED WORD...: all that is offered for the last word, sorted, on one line.
offers() {
	local expected=$1 got
	shift
	got=$(bash -c '. "$0/deploy/xidscope.bash"
		COMP_WORDS=(xidscope "${@:2}") COMP_CWORD=$(($# - 1))
		_xidscope "$1" && printf "%s\n" "${COMPREPLY[@]}"' "$top" "$program" "$@" | sort | paste -sd' ')
	[[ $got == "$expected" ]] || fail "'$*' offers '$got', not '$expected'"
}
offers "$(printf '%s\n' "${commands[@]}" | sort | paste -sd' ')" ''
offers version ver
offers why help wh
for command in "${commands[@]}"; do
	offers "$(options_of "$command" | sort | paste -sd' ')" "$command" --
done
offers '--interval' run --keep --int
offers '' run --state a
offers '' bogus --

((failed)) || echo "${#commands[@]} commands and their options are completed in bash $BASH_VERSION"
exit $failed
