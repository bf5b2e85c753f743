# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completes commands and options of xidscope in bash, as its help lists them. Elsewhere bash offers files.
_xidscope()
{
	local words
	COMPREPLY=()
	if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then
		words=$("$1" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	elif [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
		words=$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p')
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _xidscope xidscope
