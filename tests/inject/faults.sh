#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that an agent outlives each of its system calls failing with each plausible error: the calls are those of a traced
# run, and each (call, error) is made to fail once, in turn, for a while, and at the end. Prints a table; as root.
#   faults.sh INJECT AGENT [OPTION...]
#   ONLY="read write": those calls alone; PATTERNS="walk all": those patterns alone; JOBS=N at a time (4); OUT=DIR
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
	local name cycle all end error pattern
	while IFS=$'\t' read -r name cycle all end; do
		[[ -z ${ONLY:-} || " $ONLY " == *" $name "* ]] || continue
		for error in $("$inject" errors "$name"); do
			for pattern in ${PATTERNS:-first walk all end}; do
				if [[ $pattern == end ]]; then ((end)) || continue; else ((all)) || continue; fi
				echo "$name $error $pattern $cycle"
			done
		done
	done <"$out/calls"
}
one() { # one CALL ERROR PATTERN CYCLE
	"$inject" case "$out/$1-$2-$3" "$@" "$agent" "${options[@]}" ||
		[[ $? == 1 ]] || printf '%s\t%s\t%s\t0\tthe test itself failed\n' "$1" "$2" "$3"
}
# shellcheck disable=SC2034 # for one()
options=("$@")
while read -r -a case; do
	while (($(jobs -pr | wc -l) >= ${JOBS:-4})); do wait -n || true; done
	one "${case[@]}" >"$out/${case[0]}-${case[1]}-${case[2]}.result" 2>&1 </dev/null &
done < <(cases)
wait
cat "$out"/*.result >"$out/results"

# A row for each call and error: how often it failed by each pattern, and what was wrong.
sort "$out/results" | awk -F '\t' -v OFS='\t' '
	{
		row = $1 "\t" $2
		if (!(row in seen)) rows[++n] = row
		seen[row] = 1
		times[row, $3] = $4
		if ($5 != "ok") bad[row] = bad[row] (bad[row] ? " | " : "") $3 ": " $5
	}
	END {
		print "call", "error", "first", "walk", "all", "end", "outcome"
		for (i = 1; i <= n; i++) {
			row = rows[i]
			line = row
			split("first walk all end", pattern, " ")
			for (p = 1; p <= 4; p++) line = line OFS ((row, pattern[p]) in times ? times[row, pattern[p]] : "-")
			print line, (row in bad ? bad[row] : "ok")
		}
	}' >"$out/table"
if type -P column >/dev/null; then column -t -s $'\t' "$out/table"; else cat "$out/table"; fi
failed=$(awk -F '\t' '$5 != "ok"' "$out/results" | wc -l)
echo "$(wc -l <"$out/results") cases, $failed failed; files in $out"
((!failed))
