#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that docs/xidscope.8 names the commands and exit codes of `xidscope help`, the options of all commands with their
# arguments, and no others, and that the installed formatters accept it without a warning.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

page=docs/xidscope.8
needs_program
"$program" help >"$work/help"
# shellcheck disable=SC2013 # command names are words
for command in $(awk '/^Commands:/ { part = 1; next } /^$/ { part = 0 } part { print $1 }' "$work/help"); do
	"$program" "$command" --help
done >"$work/options"

# Lines "command NAME", "option --NAME ARGUMENT" and "exit N", sorted.
awk '
	/^Commands:/ { part = "command"; next }
	/^Exit codes:/ { part = "exit" }
	part == "command" && /^  [a-z]/ { print "command", $1 }
	/^  --/ { print "option", $1 ($2 ~ /^[A-Z]+(=[A-Z]+)?$/ ? " " $2 : "") }
	part == "exit" { gsub(/[^0-9]+/, " "); for (i = 1; i <= NF; i++) print "exit", $i }
' "$work/options" "$work/help" | sort -u >"$work/program"
awk '
	/^\.Sh / { part = $0 }
	part == ".Sh COMMANDS" && /^\.It Cm / { print "command", $3 }
	part == ".Sh OPTIONS" && /^\.It Fl / { print "option", "-" $3 ($4 == "Ar" ? " " $5 : "") }
	part == ".Sh EXIT STATUS" && /^\.It / { print "exit", $2 }
' "$page" | sort >"$work/page"
for kind in command option exit; do
	grep -q "^$kind " "$work/program" || complain "found no $kind in the help text: has its form changed?"
done
while read -r line; do
	complain "the program has '$line', the page does not"
done < <(comm -23 "$work/program" "$work/page")
while read -r line; do
	complain "the page has '$line', the program does not"
done < <(comm -13 "$work/program" "$work/page")

# An option in the text must be listed, or accepted in place of a command as --help is.
while read -r option; do
	grep -q "^option $option\( \|$\)" "$work/program" || "$program" "$option" >"$work/out" 2>&1 ||
		complain "the page mentions $option, which the program refuses"
done < <({
	sed -n 's/.*\.\?Fl \(-[a-z-]*\).*/-\1/p' "$page"
	grep '^\.Dl.*xidscope' "$page" | grep -o -e ' --[a-z-]*'
} | sort -u)

checked=
lint() {
	local name=$1
	shift
	checked+=" $name"
	"$@" >"$work/out" 2>"$work/errors" || complain "$name fails on the page"
	if [[ -s $work/errors ]]; then
		complain "$name warns:"
		cat "$work/errors" >&2
	fi
}
mandoc_lint() { # mandoc writes its findings to standard output; which other pages are installed here says nothing
	! mandoc -Tlint "$page" 2>&1 | grep -vE 'referenced manual not found|outdated mandoc\.db' >&2
}
if command -v man >/dev/null && man --help 2>&1 | grep -q -e --warnings; then
	lint man env MANWIDTH=80 LC_ALL=C.UTF-8 man -l --warnings -Tutf8 "$page"
fi
if command -v groff >/dev/null; then
	lint groff groff -mdoc -ww -z -Tutf8 "$page"
fi
if command -v mandoc >/dev/null; then
	lint mandoc mandoc_lint
fi

[[ -z $failed ]] || exit 1
echo "check_man.sh: $(wc -l <"$work/page") commands, options and exit codes agree; formatters:${checked:- none installed}"
