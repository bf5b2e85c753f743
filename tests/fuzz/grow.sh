#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Grows the corpus of each fuzzer until no input reaches a new edge for FUZZ_QUIET seconds (600), and keeps the inputs that
# reach one. Prints a row for each: edges, how long it ran, how long nothing new came and how many inputs were tried
# meanwhile, the corpus' files and bytes.
#   grow.sh FUZZER...   FUZZ_MOST=SECONDS: ends a fuzzer then in any case (14400)
set -euo pipefail
corpora=$(dirname "$(realpath "$0")")/corpus
quiet=${FUZZ_QUIET:-600} most=${FUZZ_MOST:-14400}
failed=0

# loaded LOG, edges LOG: those of the corpus, and those that were reached at the end. On a slow machine the log has others
# before the corpus has been read.
loaded() { sed -n 's/.*INITED cov: \([0-9]*\) .*/\1/p' "$1"; }
edges() { grep -o ' cov: [0-9]*' "$1" | tail -n 1 | tr -dc '0-9'; }

# inputs LOG: how many were tried in a run that has ended.
inputs() { sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$1"; }

printf '%-22s %6s %8s %8s %10s %6s %8s\n' fuzzer edges seconds quiet inputs files bytes
for fuzzer; do
	corpus=$corpora/${fuzzer##*/fuzz_} grown=$fuzzer.corpus log=$fuzzer.log
	mkdir -p "$corpus" "$grown"
	begin=$SECONDS last=$SECONDS tried=0
	while ((SECONDS - last < quiet && SECONDS - begin < most)); do
		left=$((quiet - SECONDS + last))
		if ! "$fuzzer" -max_total_time=$((left < 300 ? left : 300)) -max_len=2048 -artifact_prefix="$fuzzer-" \
			"$grown" "$corpus" >"$log" 2>&1; then
			echo "$fuzzer has failed: see $log"
			failed=1
			break
		fi
		tried=$((tried + $(inputs "$log")))
		[[ $(loaded "$log") == "$(edges "$log")" ]] || last=$SECONDS tried=0
	done
	# Edges alone, not how often they are taken: that keeps the corpus small.
	"$fuzzer" -merge=1 -use_counters=0 "$corpus" "$grown" >"$log.merge" 2>&1 || failed=1
	printf '%-22s %6d %8d %8d %10d %6d %8d\n' "${fuzzer##*/}" "$(edges "$log")" $((SECONDS - begin)) \
		$((SECONDS - last)) "$tried" "$(find "$corpus" -type f | wc -l)" "$(cat "$corpus"/* | wc -c)"
done
exit "$failed"
