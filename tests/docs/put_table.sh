#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Puts what it reads between the marks "<!-- NAME: begin -->" and "<!-- NAME: end -->" of DOCUMENT: put_table.sh DOCUMENT NAME
set -euo pipefail
begin="<!-- $2: begin -->" end="<!-- $2: end -->"
sed -n "/^$begin\$/,/^$end\$/p" "$1" | tail -n 1 | grep -qxF -- "$end" || {
	echo "$1 has no lines '$begin' and '$end'" >&2
	exit 1
}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{ echo && cat && echo; } >"$new"
sed -i -e "/^$begin\$/,/^$end\$/{//!d}" -e "/^$begin\$/r $new" "$1"
