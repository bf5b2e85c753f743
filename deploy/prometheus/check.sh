#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the alert rules are valid, that each fires when it should and only then, and that xidscope exports every
# metric that they use, with the labels that they use.
set -euo pipefail

die() {
	echo "check.sh: error: $*" >&2
	exit 1
}
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
[[ -x $root/build/xidscope ]] || die "build/xidscope is missing: run 'make' first"
promtool=$(type -P promtool || "$root/tests/vm/tool.sh" prometheus usr/bin/promtool)

cd "$here"
quietly() { "$@" >"$dir/log" 2>&1 || die "$(cat "$dir/log")"; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-rules.XXXXXX")
trap 'rm -rf "$dir"' EXIT
quietly "$promtool" check rules --lint=all --lint-fatal rules.yaml
quietly "$promtool" test rules rules_test.yaml

alerts=$(sed -n 's/^ *- alert: //p' rules.yaml)
for alert in $alerts; do
	grep -A1 "alertname: $alert\$" rules_test.yaml | grep exp_alerts: >/dev/null ||
		die "rules_test.yaml has no case in which $alert fires"
	grep -q "alertname: $alert}" rules_test.yaml || die "rules_test.yaml has no case in which $alert does not fire"
done

# As exported: NAME{LABEL LABEL}; a counter's sample ends in _total.
"$root/build/xidscope" metrics | awk -F'\t' '
	{ gsub(/, /, " ", $4); print $1 ($2 == "counter" ? "_total" : ""), $4, "instance job" }' >"$dir/metrics"
grep -oE 'xidscope_[a-z_]+[a-z]' rules.yaml | while read -r metric; do
	grep -q "^$metric " "$dir/metrics" || die "rules.yaml uses $metric, which xidscope does not export: see 'xidscope metrics'"
done
# The series in the tests have all labels of their metric, and no others.
grep -oE 'xidscope_[a-z_]+\{.*\}' rules_test.yaml | while IFS='{}' read -r metric labels _; do
	used=$(grep -oE '[a-z]+=' <<<"$labels" | tr -d = | sort | paste -sd' ')
	known=$(sed -n "s/^$metric //p" "$dir/metrics" | tr ' ' '\n' | grep -vxE 'job|' | sort | paste -sd' ')
	[[ $used == "$known" ]] || die "$metric has the labels '$used' in rules_test.yaml, but '$known' in xidscope"
done
echo "$(wc -w <<<"$alerts") alerts are valid and tested"
