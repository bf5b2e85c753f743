#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the table of alerts in deploy/prometheus/README.md has the alerts of rules.yaml, in that order, with their
# severities. check_alerts.sh [DOCUMENT]
set -euo pipefail
# shellcheck source=tests/docs/lib.sh
. "$(dirname "$0")/lib.sh"

document=${1:-deploy/prometheus/README.md}

awk '$1 == "-" && $2 == "alert:" { alert = $3 } $1 == "severity:" { print alert, $2 }' deploy/prometheus/rules.yaml >"$work/rules"
awk -F ' *[|] *' '$2 ~ /^`[A-Z]/ && NF == 5 { gsub(/`/, "", $2); print $2, $3 }' "$document" >"$work/page"
[[ -s $work/rules ]] || fail "found no alert in rules.yaml: has its form changed?"
diff -u --label "$document" "$work/page" --label rules.yaml "$work/rules" >&2 ||
	fail "$document and rules.yaml disagree"
echo "check_alerts.sh: $(wc -l <"$work/rules") alerts agree"
