#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the table of alerts in deploy/prometheus/README.md has the alerts of rules.yaml, in that order, with their
# severities. check_alerts.sh [DOCUMENT]
set -euo pipefail
cd "$(dirname "$0")/../.."
document=${1:-deploy/prometheus/README.md}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk '$1 == "-" && $2 == "alert:" { alert = $3 } $1 == "severity:" { print alert, $2 }' deploy/prometheus/rules.yaml >"$work/rules"
awk -F ' *[|] *' '$2 ~ /^`[A-Z]/ && NF == 5 { gsub(/`/, "", $2); print $2, $3 }' "$document" >"$work/page"
[[ -s $work/rules ]] || {
	echo "check_alerts.sh: found no alert in rules.yaml: has its form changed?" >&2
	exit 1
}
diff -u --label "$document" "$work/page" --label rules.yaml "$work/rules" >&2 || {
	echo "check_alerts.sh: $document and rules.yaml disagree" >&2
	exit 1
}
echo "check_alerts.sh: $(wc -l <"$work/rules") alerts agree"
