#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that in bash each command, each option of each command that --help shows, and each value that is one of
# a few words can be completed, and file names; and that nothing else is offered.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

mapfile -t commands < <("$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
((${#commands[@]} >= 9)) || fail "found no commands in the help: has its form changed?"
options_of() { "$program" "$1" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'; }
touch 'a file' afile

# offers EXPECTED WORD...: all that is offered for the last word, sorted, on one line.
offers() {
	local expected=$1 got
	shift
	got=$(bash -c '. /dev/fd/3 3<<<"$("$0" completion)"
		COMP_WORDS=(xidscope "$@") COMP_CWORD=$#
		_xidscope && printf "%s\n" "${COMPREPLY[@]}"' "$program" "$@" | sort | paste -sd' ')
	[[ $got == "$expected" ]] || fail "'$*' offers '$got', not '$expected'"
}
offers "$(printf '%s\n' "${commands[@]}" | sort | paste -sd' ')" ''
offers version ver
for command in "${commands[@]}"; do
	offers "$({ options_of "$command" && echo --help; } | sort | paste -sd' ')" "$command" --
done
offers 'openmetrics prometheus' run --format ''
offers 'prometheus' run --format = p
offers 'openmetrics prometheus' run --format =
offers 'rpc,gpu' run --hooks rpc,g
offers 'a file afile' run --keep --state a
offers '' run --interval ''
offers '--help' completion ''
offers '' xid bogus
offers '79' xid 79
offers 'xid_fatal xid_hardware xid_repeat xid_storm' run --rule xid
offers 'fail off warn' run --rule xid_fatal =
offers 'nfs_waiter' run --rule = nfs_w

((failed)) || echo "${#commands[@]} commands, their options and values are completed in bash $BASH_VERSION"
exit $failed
