#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that pages stay within their length, that each file that a page names exists, that each link between pages has a
# target, that its first line names its reader, and that SECURITY.md names each capability of the unit.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

mapfile -t pages < <(ls README.md CONTRIBUTING.md SECURITY.md docs/*.md deploy/*/*.md)

# at_most WHAT NUMBER LIMIT UNIT: a limit is a tenth above what was there when it was set.
at_most() {
	(($2 <= $3)) || complain "$1: $2 $4, at most $3. Cut what another page or a comment says, or split the page by readers;" \
		"or raise the limit in tests/docs/check_pages.sh and give the reason in the commit."
}
at_most README.md "$(wc -l <README.md)" 110 lines
at_most "all pages with the man page and CHANGELOG.md" "$(cat "${pages[@]}" CHANGELOG.md docs/xidscope.8 | wc -w)" 36300 words

for page in "${pages[@]}"; do
	folder=./$page folder=${folder%/*}
	sed -n '/^# /,$p' "$page" | sed -n 3p | grep -q '^For ' || complain "$page: its first line names no reader"
	# In backquotes and with a folder of the project: a path, perhaps with a pattern. Capitals stand for any name.
	while read -r path; do
		pattern=${path//NAME/*}
		compgen -G "${pattern//NN-name/*}" >/dev/null || complain "$page names $path, which does not exist"
	done < <(grep -oE '`(bpf|deploy|docs|include|tests|user|vmlinux)/[^` ]*' "$page" | tr -d '`' | sort -u |
		grep -vE '^(bpf|include|user|tests/fuzz|tests/unit)/[^ ]*NAME')
	# The installation makes a link to what only the source has text, line by line.
	! grep -nE '^[^[]*\]\((\.\./)+(bpf|include|tests|user)/' "$page" || complain "$page: that link begins in another line"
	while read -r link; do
		[[ -e $folder/${link%%#*} ]] || complain "$page links to $link, which does not exist"
		anchor=${link#*#}
		# grep reads to the end: otherwise the pipe may end with its reader.
		[[ $link != *#* ]] || sed -nE '/^#+ /{ s///; s/ /-/g; s/`//g; s/.*/\L&/p }' "$folder/${link%%#*}" |
			grep -xF "$anchor" >/dev/null || complain "$page links to $link: no such heading"
	done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^(https?:|#)' || true)
done

while read -r capability; do
	grep -qw "$capability" SECURITY.md || complain "SECURITY.md lacks $capability, which the unit gives"
done < <(sed -n 's/^CapabilityBoundingSet=//p' deploy/systemd/xidscope.service | tr ' ' '\n')

[[ -z $failed ]] || exit 1
echo "check_pages.sh: ${#pages[@]} pages within their length, their files and links exist"
