#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that each alert of alerts.yaml has its section in docs/RUNBOOK.md, with its severity and all parts, to which its
# runbook_url leads.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

rules=deploy/prometheus/alerts.yaml
runbook=docs/RUNBOOK.md

awk '$1 == "-" && $2 == "alert:" { alert = $3 } $1 == "severity:" { print alert, $2 }' $rules >"$work/rules"
[[ -s $work/rules ]] || fail "found no alert in $rules: has its form changed?"

while read -r alert severity; do
	rule=$(sed -n "/alert: $alert\$/,/- alert:/p" $rules)
	for field in summary: description:; do
		[[ $rule == *" $field"* ]] || complain "$alert has no $field"
	done
	[[ $rule$'\n' == *" runbook_url: "*"}file:///"*"$runbook"*"#${alert,,}\""$'\n'* ]] ||
		complain "$alert has no absolute runbook_url with the anchor #${alert,,}"
	section=$(sed -n "/^## $alert\$/,/^## /p" $runbook)
	[[ $section ]] || complain "$runbook has no section $alert"
	[[ $section == *$'\n'"**Means** ($severity) "* ]] || complain "$runbook: $alert lacks its severity, \"**Means** ($severity)\""
	for part in Means 'Look at' 'Do' 'Close when'; do
		[[ $section == *$'\n'"**$part**"* ]] || complain "$runbook: $alert lacks \"$part\""
	done
	[[ $section == *$'\n    '[a-z]* ]] || complain "$runbook: $alert has no command to run"
done <"$work/rules"
while read -r section; do
	grep -q "^$section " "$work/rules" || complain "$runbook has a section on $section, which is no alert"
done < <(sed -n 's/^## //p' $runbook)

[[ -z $failed ]] || exit 1
echo "check_alerts.sh: $(wc -l <"$work/rules") alerts agree"
