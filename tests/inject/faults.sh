#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that an agent and the processes that write its files outlive each of their system calls failing with each
# plausible error: the calls are those of a traced run, and each (who, call, error) is made to fail once, in turn, for a
# while, while the writers are killed, and at the end. Prints a table; as root.
#   faults.sh INJECT AGENT [OPTION...]
#   WHO="agent new gpus output state events": those alone (new: a process that starts); ONLY="read write": those calls alone;
#   PATTERNS="walk all": those patterns alone; JOBS=N at a time (4); OUT=DIR
set -euo pipefail
inject=$(realpath "$1") agent=$(realpath "$2")
shift 2
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
((EUID == 0)) || {
	echo "faults.sh: this needs root: it reads the kernel log and intercepts system calls" >&2
	exit 77
}

"$inject" list "$out/list" "$agent" "$@" >"$out/calls"
cases() {
	local who name cycle run restart end error pattern
	while IFS=$'\t' read -r who name cycle run restart end; do
		[[ -z ${ONLY:-} || " $ONLY " == *" $name "* ]] || continue
		[[ -z ${WHO:-} || " $WHO " == *" $who "* ]] || continue
		# What is also called while all goes well fails by the other patterns.
		((!run)) || restart=0
		for error in $("$inject" errors "$name"); do
			for pattern in ${PATTERNS:-first walk all restart end}; do
				case $pattern in
				end) ((end)) || continue ;;
				restart) ((restart)) || continue ;;
				*) ((run)) || continue ;;
				esac
				echo "$who $name $error $pattern $cycle"
			done
		done
	done <"$out/calls"
}
one() { # one WHO CALL ERROR PATTERN CYCLE
	"$inject" case "$out/$1-$2-$3-$4" "$@" "$agent" "${options[@]}" ||
		[[ $? == 1 ]] || printf '%s\t%s\t%s\t%s\t0\tthe test itself failed\n' "$1" "$2" "$3" "$4"
}
# shellcheck disable=SC2034 # for one()
options=("$@")
cases >"$out/cases"
begun=0
while read -r -a case; do
	while (($(jobs -pr | wc -l) >= ${JOBS:-4})); do wait -n || true; done
	((begun % 50)) || echo "$begun of $(wc -l <"$out/cases") cases begun"
	begun=$((begun + 1))
	result=$out/${case[0]}-${case[1]}-${case[2]}-${case[3]}.result
	{
		one "${case[@]}" >"$result" 2>&1 </dev/null
		grep -v $'\tok$' "$result" || true
	} &
done <"$out/cases"
wait
cat "$out"/*.result >"$out/results"

# A row for each caller, call and error: how often it failed by each pattern, and what was wrong.
sort "$out/results" | awk -F '\t' -v OFS='\t' '
	{
		row = $1 "\t" $2 "\t" $3
		if (!(row in seen)) rows[++n] = row
		seen[row] = 1
		times[row, $4] = $5
		if ($6 != "ok") bad[row] = bad[row] (bad[row] ? " | " : "") $4 ": " $6
	}
	END {
		print "who", "call", "error", "first", "walk", "all", "restart", "end", "outcome"
		for (i = 1; i <= n; i++) {
			row = rows[i]
			line = row
			patterns = split("first walk all restart end", pattern, " ")
			for (p = 1; p <= patterns; p++)
				line = line OFS ((row, pattern[p]) in times ? times[row, pattern[p]] : "-")
			print line, (row in bad ? bad[row] : "ok")
		}
	}' >"$out/table"
if type -P column >/dev/null; then column -t -s $'\t' "$out/table"; else cat "$out/table"; fi
failed=$(awk -F '\t' '$6 != "ok"' "$out/results" | wc -l)
echo "$(wc -l <"$out/results") cases, $failed failed; files in $out"
((!failed))
