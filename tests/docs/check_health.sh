#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the table of docs/HEALTH.md has the rules of `xidscope check --list-rules`, in that order, with the same
# levels, limits and meanings, and that every rule that the page or the deployed examples name exists, and that each kind
# of driver error has a rule.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

document=docs/HEALTH.md
needs_program

"$program" check --list-rules >"$work/rules"
awk -F '\t' '{ limit = $3 == "" ? "" : $3 " " $4 " "; print "| `" $1 "` | " $2 " | " limit "| " $5 " |" }' \
	"$work/rules" >"$work/program"
sed -n '/^| rule /,/^$/p' "$document" | grep '^| `' >"$work/page" || fail "$document has no table of rules"
diff -u --label "$document" "$work/page" --label "check --list-rules" "$work/program" >&2 ||
	fail "$document and $program disagree"

{ grep -rhoE -e '--rule[ =][a-z_]+' "docs" "deploy" || true; } | sed 's/--rule[ =]//' | sort -u |
	while read -r rule; do
		grep -q "^$rule	" "$work/rules" || fail "there is no rule $rule"
	done
awk -F '\t' '$1 == "GPU_DRIVER" { print $2 }' user/faults/recognise/kernel_lines.tsv | sort -u |
	while read -r kind; do
		grep -q "	$kind	" user/health/driver_errors.tsv ||
			fail "user/health/driver_errors.tsv has no rule for the driver error $kind: add it"
		grep -q "\`$kind\`" "$document" || fail "$document does not name the driver error $kind"
	done
# What users can cause drains no node, and the pages say so: rows with the note "users".
ignored=$(sed -n 's/^ignore=${XIDSCOPE_IGNORE-\(.*\)}$/\1/p' deploy/slurm/xidscope-health-check)
grep -qF "(\`$ignored\`)" deploy/slurm/README.md || fail "deploy/slurm/README.md has another default of XIDSCOPE_IGNORE than its script"
users=$(awk -F '\t' '$NF == "users" { print $1 }' user/health/health_rules.tsv)
[[ $(tr , '\n' <<<"$ignored" | sort) == $(sort <<<"$users") ]] ||
	fail "deploy/slurm/xidscope-health-check ignores $ignored; users can cause ${users//$'\n'/ }"
for rule in $users; do
	grep -q "\`$rule\`" SECURITY.md || fail "SECURITY.md does not say how a user causes $rule"
done
echo "check_health.sh: $(wc -l <"$work/rules") rules agree"
