#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that docs/METRICS.md describes the families of `xidscope metrics`, all of them and no others: name, type, unit,
# labels and help agree, each has a meaning and one PromQL line, every name in the text and the queries exists, the
# sizes of tables in the text are those of include/rpc.h, and every kind of event and reason of a drop is there.
# With PROMTOOL=path of promtool, each query's syntax is checked too. check_metrics.sh [DOCUMENT]
set -euo pipefail
# shellcheck source=tests/docs/lib.sh
. "$(dirname "$0")/lib.sh"

document=${1:-docs/METRICS.md}
needs_program
"$program" metrics >"$work/families"

# Prints a line per difference, and writes each query to the file $queries.
awk -F '\t' -v queries="$work/queries" '
function differ(text) { print "line " FNR ": " text }
function expect(field, want,    got) {
	got = substr($0, length(field) + 5)
	if (family in type && got != want)
		differ(family ": " field " is \"" got "\", the program says \"" want "\"")
	has[family, field] = 1
}
# Every name that begins like a family must be one, or one of its samples; in a query, a sample.
function names(line,    name) {
	while (match(line, /xidscope_[a-z0-9_]*/)) {
		name = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (!(name in sample) && (query || !(name in type)))
			differ(name " is not a " (query ? "sample" : "family"))
		else if (query && sample[name] == family)
			about = 1
	}
}
NR == FNR {
	order[++count] = $1
	type[$1] = $2
	unit[$1] = $3 == "" ? "none" : $3
	labels[$1] = $4 == "" ? "none" : $4
	help[$1] = $5
	if ($2 == "histogram")
		sample[$1 "_bucket"] = sample[$1 "_count"] = sample[$1 "_sum"] = $1
	else
		sample[$1 ($2 == "counter" ? "_total" : "")] = $1
	next
}
/^```/ {
	if (query && family != "" && (lines != 1 || !about))
		differ(family ": the PromQL block must be one line that uses it")
	query = /^```promql$/
	fence = !fence
	lines = about = 0
	if (query)
		blocks[family]++
	next
}
{ names($0) }
fence {
	if (query) {
		lines++
		print FNR "\t" $0 >queries
	}
	next
}
/^#/ {
	family = ""
	if (/^### `xidscope_/) {
		family = $0
		gsub(/^### `|`$/, "", family)
		if (seen[family]++)
			differ(family " has two headings")
	}
	next
}
/^- Type: / { expect("Type", type[family]); next }
/^- Unit: / { expect("Unit", unit[family]); next }
/^- Labels: / { expect("Labels", labels[family]); next }
/^- Help: / { expect("Help", help[family]); next }
{ words[family] += split($0, ignored, / +/) }
END {
	if (fence)
		print "the last code block is not closed"
	for (i = 1; i <= count; i++) {
		family = order[i]
		if (!seen[family]) {
			print family ": no heading"
			continue
		}
		split("Type Unit Labels Help", fields, " ")
		for (f = 1; f <= 4; f++)
			if (!has[family, fields[f]])
				print family ": no line \"- " fields[f] ": \""
		if (words[family] < 5)
			print family ": no meaning"
		if (blocks[family] != 1)
			print family ": " blocks[family] + 0 " PromQL blocks, not one"
	}
}' "$work/families" "$document" >"$work/differences"

# bound NAME LESS WORDS: the page must name the size of a table of include/rpc.h (less its entry for "other").
bound() {
	local size
	size=$(awk -v name="$1" '$1 == "#define" && $2 == name { print $3 }' "include/rpc.h")
	grep -q -F "$((size - $2)) $3" "$document" || echo "$1 is $size: no \"$((size - $2)) $3\"" >>"$work/differences"
}
bound RPC_MAX_SERVERS 0 servers
bound RPC_MAX_TRANSPORTS 0 transports
bound RPC_MAX_SERIES 1 combinations
bound RPC_MAX_ERRORS 0 combinations
bound RPC_NAME_LEN 1 bytes

# The page must name each kind of a GPU driver's error, and have a table's row for each kind of another event and for
# each reason of a drop.
grep -rhoE '\{ (DRIVER|EVENT), "[a-z0-9_]+|_DROP_[A-Z]+\] = "[a-z_]+|snapshot_drop\(s, "[a-z_]+' user |
	sort -u >"$work/names"
(($(wc -l <"$work/names") > 30)) || fail "cannot read the kinds of events and the reasons of drops in user/"
while IFS='"' read -r where name; do
	[[ $where == *DRIVER* ]] && row= || row='^|[^|]*'
	grep -q "$row\`$name\`" "$document" || echo "$name has no line or no row" >>"$work/differences"
done <"$work/names"

if [[ -s $work/differences ]]; then
	cat "$work/differences" >&2
	fail "$document and $program disagree"
fi

if [[ -n ${PROMTOOL:-} ]]; then
	{
		printf 'groups:\n- name: docs\n  rules:\n'
		while IFS=$'\t' read -r line query; do
			printf '  - record: docs:line_%s\n    expr: |-\n      %s\n' "$line" "$query"
		done <"$work/queries"
	} >"$work/rules.yml"
	"$PROMTOOL" check rules "$work/rules.yml" >"$work/promtool" 2>&1 || {
		cat "$work/promtool" >&2
		fail "promtool refuses a query of $document (docs:line_N is on its line N)"
	}
else
	echo "check_metrics.sh: PROMTOOL is not set: the syntax of the queries was not checked" >&2
fi
echo "check_metrics.sh: $(wc -l <"$work/families") families agree, $(wc -l <"$work/queries") queries"
