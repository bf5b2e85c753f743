#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that docs/METRICS.md describes the families of `xidscope metrics`, all of them and no others: its table of
# families is the program's, each family that is always shown has a reader: a rule, a panel or a query of the page (no rule or panel
# reads the others); a family has at most one PromQL line, every name in the text and the queries exists, the sizes
# of tables in the text are those of include/rpc.h, and every kind of event and reason of a drop is there.
#   check_metrics.sh --put        put the program's table of families into docs/METRICS.md
#   check_metrics.sh --readers    also list who reads each family
set -euo pipefail
. "$(dirname "$0")/lib.sh"

needs_program
"$program" metrics >"$work/families"
awk -F '\t' '
BEGIN { print "| family{labels}: type, unit | help |\n|---|---|" }
{
	gsub(/, /, ",", $4)
	print "| `" $1 ($4 == "" ? "" : "{" $4 "}") "`: " $2 ($3 == "" ? "" : ", " $3) " | " $5 " |"
}' "$work/families" >"$work/table"
if [[ ${1:-} == --put ]]; then
	exec tests/docs/put_table.sh docs/METRICS.md families <"$work/table"
fi

document=docs/METRICS.md
sed -n '/^<!-- families: begin -->$/,/^<!-- families: end -->$/p' "$document" | grep '^|' >"$work/page" || true
diff -U0 --label "$document" "$work/page" --label "$program" "$work/table" >&2 ||
	fail "the table of families in $document is not the program's: run tests/docs/check_metrics.sh --put"

# Prints a line per difference. In a block of queries, a comment names the family
# whose query is in the next line. The notes on a family, or on several, begin with "- ", their names and ": ".
awk -F '\t' '
function differ(text) { print "line " FNR ": " text }
# Every name that begins like a family must be one, or one of its samples; in a query, a sample.
function names(line,    name) {
	while (match(line, /xidscope_[a-z0-9_]*/)) {
		name = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (!(name in sample) && (query || !(name in type)))
			differ(name " is not a " (query ? "sample" : "family"))
		else if (query && sample[name] == asked)
			about = 1
	}
}
NR == FNR {
	order[++count] = $1
	type[$1] = $2
	if ($2 == "histogram")
		sample[$1 "_bucket"] = sample[$1 "_count"] = sample[$1 "_sum"] = $1
	else
		sample[$1 ($2 == "counter" ? "_total" : "")] = $1
	next
}
/^<!-- families: (begin|end) -->$/ {
	table = !table
	next
}
/^```/ {
	if (asked != "")
		differ(asked ": no query in the line after its name")
	promql = /^```promql$/
	fence = !fence
	asked = ""
	next
}
promql && fence && /^# / {
	if (asked != "")
		differ(asked ": no query in the line after its name")
	names($0)
	asked = substr($0, 3)
	sub(/:.*/, "", asked)
	if (!(asked in type))
		differ("a query begins with \"# FAMILY: \"")
	next
}
promql && fence {
	query = 1
	about = 0
	names($0)
	query = 0
	if (!about)
		differ("the query is not of the family that the line before names")
	found[asked]++
	asked = ""
	next
}
table { next }
{ names($0) }
END {
	if (fence)
		print "the last code block is not closed"
	for (i = 1; i <= count; i++) {
		family = order[i]
		if (found[family] > 1)
			print family ": " found[family] " PromQL lines, at most one"
	}
}' "$work/families" "$document" >"$work/differences"

# samples READER: the names of samples in standard input, also without what a family has behind its name, and who reads them.
samples() { grep -oE 'xidscope_[a-z0-9_]+' | sed -nE 'p; s/_(total|bucket|count|sum)$//p' | sort -u | sed "s|$| $1|"; }
{
	for file in deploy/prometheus/{alerts,nodes,peers,checkpoints,attempts,reliability}.yaml deploy/grafana/*.json; do
		samples "${file##*/}" <"$file" || true
	done
	sed -n '/^```promql$/,/^```$/p' "$document" | grep -v '^#' | samples "${document##*/}" || true
} >"$work/reads"
while read -r family help; do
	readers=$(sed -n "s/^$family //p" "$work/reads" | xargs)
	echo "$family: ${readers:-none}" >>"$work/readers"
	if [[ $help == *'only with --detail'* ]]; then
		[[ ! $readers =~ \.(yaml|json) ]] || echo "$family: a rule or panel reads it, but it is not shown by default"
	elif [[ ! $readers ]]; then
		echo "$family: no rule, panel or query reads it: show it only with more --detail, or not at all"
	fi
done <"$work/families" >>"$work/differences"
awk -F '\t' 'NR > 1 && ($5 == "NODE") == ($8 ~ /only with --detail/) { print $1 ": its help does not say with which --detail it is shown" }' \
	user/sinks/metrics.tsv >>"$work/differences"
[[ ${1:-} != --readers ]] || cat "$work/readers"

# bound NAME LESS WORDS: the page must name the size of a table of include/rpc.h (less its entry for "other").
bound() {
	local size
	size=$(awk -v name="$1" '$1 == "#define" && $2 == name { print $3 }' "include/rpc.h")
	grep -q -F "$((size - $2)) $3" "$document" || echo "$1 is $size: no \"$((size - $2)) $3\"" >>"$work/differences"
}
bound RPC_MAX_SERVERS 0 servers
bound RPC_MAX_TRANSPORTS 0 transports
bound RPC_OP_SERIES 1 combinations
bound RPC_MAX_ERRORS 0 combinations
bound RPC_NAME_LEN 1 bytes

# The page must have a table's row for each kind of event and for each reason of a drop.
{
	awk -F '\t' '$1 == "EVENT" { print "\"" $2 }' user/faults/recognise/kernel_lines.tsv
	grep -rhoE '_DROP_[A-Z]+\] = "[a-z_]+|snapshot_drop\(s, "[a-z_]+' user
} | sort -u >"$work/names"
(($(wc -l <"$work/names") > 30)) || fail "cannot read the kinds of events and the reasons of drops in user/"
while IFS='"' read -r _ name; do
	grep -q "^|[^|]*\`$name\`" "$document" || echo "$name has no row" >>"$work/differences"
done <"$work/names"

if [[ -s $work/differences ]]; then
	cat "$work/differences" >&2
	fail "$document and $program disagree"
fi

echo "check_metrics.sh: $(wc -l <"$work/families") families agree"
