#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that in bash and in zsh each command, each option of each command that --help shows, and each value that is one of
# a few words can be completed, and file names; and that nothing else is offered.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
type -P zsh >/dev/null || { echo "zsh is missing: run 'make deps' as root" && exit 77; }

mapfile -t commands < <("$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
((${#commands[@]} >= 9)) || fail "found no commands in the help: has its form changed?"
options_of() { "$program" "$1" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'; }
touch 'a file' afile

# ---- bash ----
# in_bash EXPECTED WORD...: all that is offered for the last word, sorted, on one line.
in_bash() {
	local expected=$1 got
	shift
	got=$(bash -c '. /dev/fd/3 3<<<"$("$0" completion bash)"
		COMP_WORDS=(xidscope "$@") COMP_CWORD=$#
		_xidscope && printf "%s\n" "${COMPREPLY[@]}"' "$program" "$@" | sort | paste -sd' ')
	[[ $got == "$expected" ]] || fail "bash: '$*' offers '$got', not '$expected'"
}
in_bash "$(printf '%s\n' "${commands[@]}" | sort | paste -sd' ')" ''
in_bash version ver
for command in "${commands[@]}"; do
	in_bash "$({ options_of "$command" && echo --help; } | sort | paste -sd' ')" "$command" --
done
in_bash 'openmetrics prometheus' run --format ''
in_bash 'prometheus' run --format = p
in_bash 'openmetrics prometheus' run --format =
in_bash 'rpc,gpu' run --hooks rpc,g
in_bash 'a file afile' run --keep --state a
in_bash '' run --interval ''
in_bash '--help bash zsh' completion ''
in_bash '' xid bogus
in_bash '79' xid 79
in_bash 'xid_fatal xid_hardware xid_repeat xid_storm' check --rule xid
in_bash 'fail off warn' check --rule xid_fatal =
in_bash 'nfs_waiter' check --rule = nfs_w

# ---- zsh, by its keys ----
"$program" completion zsh >_xidscope
cat >keys.zsh <<-'END'
	# keys.zsh TYPED...: what stands in the line after each of these and the tabulator key, a line each.
	zmodload zsh/zpty
	zpty shell 'zsh -f -i'
	zpty -w shell 'PS1= PS2= TERM=dumb; cd '$PWD'; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -d $PWD/dump
	show() { print -r -- "$BUFFER" >>shown; BUFFER= }; zle -N show; bindkey "^T" show; bindkey "^I" complete-word
	setopt no_auto_menu no_beep; print -r ready >>shown'
	lines() { [[ -e shown ]] && wc -l <shown || print 0 }
	waits() { local n; for n in {1..3000}; do (( $(lines) >= $1 )) && return; zpty -r -t shell >/dev/null; sleep 0.005; done; exit 1 }
	waits 1
	n=1
	for typed; do
		zpty -w -n shell "$typed"$'\t\x14'
		waits $((++n))
	done
	zpty -d shell
END
# in_zsh TYPED LINE: adds a case.
typed=() wanted=()
in_zsh() {
	typed+=("$1")
	wanted+=("$2")
}
for command in "${commands[@]}"; do
	in_zsh "xidscope ${command%?}" "xidscope $command "
	while read -r option; do
		# Its last letter is left to zsh, unless another option begins like the rest.
		typed_part=${option%?}
		(($(options_of "$command" | grep -c -- "^$typed_part") == 1)) || typed_part=$option
		in_zsh "xidscope $command $typed_part" "xidscope $command $option"
	done < <(options_of "$command")
done
in_zsh 'xidscope run --format pr' 'xidscope run --format prometheus '
in_zsh 'xidscope run --format=pr' 'xidscope run --format=prometheus '
in_zsh 'xidscope run --hooks rpc,g' 'xidscope run --hooks rpc,gpu'
in_zsh 'xidscope run --state afi' 'xidscope run --state afile '
in_zsh 'xidscope completion z' 'xidscope completion zsh '
in_zsh 'xidscope check --rule nfs_w' 'xidscope check --rule nfs_waiter '
in_zsh 'xidscope xid 14' 'xidscope xid 14'
in_zsh 'xidscope xid bog' 'xidscope xid bog'
in_zsh 'xidscope run --bogu' 'xidscope run --bogu'
timeout 120 zsh -f keys.zsh "${typed[@]}" >zsh.log 2>&1 || fail "zsh does not answer: $(tail -n 3 zsh.log)"
mapfile -t shown < <(tail -n +2 shown)
for i in "${!wanted[@]}"; do
	# What zsh adds to an option, a blank, comma or equals sign, goes with the next key.
	[[ ${shown[i]:-} == "${wanted[i]}" || ${shown[i]:-} == "${wanted[i]}"[\ =,] ]] ||
		fail "zsh: '${typed[i]}' becomes '${shown[i]:-}', not '${wanted[i]}'"
done

((failed)) || echo "${#commands[@]} commands, their options and values are completed in bash $BASH_VERSION and $(zsh --version)"
exit $failed
