#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures what the agent's series cost in a real Prometheus, with targets that serve a real file of an agent. Puts the
# table into docs/FLEET.md. series-cost.sh [FILE LATER-FILE], two files of one agent: by default those of `make growth`.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
files=("$@")
((${#files[@]})) || files=("$top"/build/bench/growth/1-server-ops-{2,3}.prom)
for file in "${files[@]}"; do
	[[ -e $file ]] || {
		echo "$file is missing: run make growth, or name two files of one agent: make series-cost FILES='FILE LATER-FILE'" >&2
		exit 1
	}
done
work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-series.XXXXXX")
trap 'rm -rf "$work"' EXIT
prometheus=$("$top/tests/vm/tool.sh" prometheus usr/bin/prometheus)
/usr/bin/python3 "$here/series_cost.py" "$prometheus" "$work" "${files[@]}" | tee "$work/table.md"
"$here/../docs/put_table.sh" "$top/docs/FLEET.md" series-cost <"$work/table.md"
