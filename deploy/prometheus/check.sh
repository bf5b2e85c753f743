#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the rules are valid, that each alert fires when it should and only then, that xidscope exports every metric
# that rules and dashboards use, with the labels that the tests give them, and that alerts advise as the catalog does.
set -euo pipefail

die() {
	echo "check.sh: error: $*" >&2
	exit 1
}
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
xidscope=$root/build/xidscope
[[ -x $xidscope ]] || die "build/xidscope is missing: run 'make' first"
promtool=$(type -P promtool || "$root/tests/vm/tool.sh" prometheus usr/bin/promtool)

cd "$here"
quietly() { "$@" >"$dir/log" 2>&1 || die "$(cat "$dir/log")"; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-rules.XXXXXX")
trap 'rm -rf "$dir"' EXIT
rules=(nodes.yaml peers.yaml checkpoints.yaml attempts.yaml reliability.yaml alerts.yaml)
tests=(*_test.yaml)
export GOGC=800 # promtool collects its garbage less often
quietly "$promtool" check rules --lint=all --lint-fatal "${rules[@]}"
quietly "$promtool" test rules "${tests[@]}"

alerts=$(sed -n 's/^ *- alert: //p' alerts.yaml)
shown=$(grep -oP 'ALERTS\{.*alertname=~\\"\K[^\\]*' ../grafana/fleet.json)
for alert in $alerts; do
	[[ $alert =~ ^($shown|DeadMansSwitch)$ ]] || die "the fleet's page does not show $alert"
	grep -h -A1 "alertname: $alert\$" "${tests[@]}" | grep exp_alerts: >/dev/null || die "there is no case in which $alert fires"
	[[ $alert == DeadMansSwitch ]] || grep -qh "alertname: $alert}" "${tests[@]}" || die "there is no case in which $alert does not fire"
done

# A critical alert is evaluated before those of the same fault that it inhibits, which is certain only within a group: else
# people are told of them first.
for pair in NodeUnfit:{NodeWarns,GpuFatalXid,NvswitchFatalSxid,GpuRepeats} NfsServerDead:{NfsCallHangs,NfsBottleneck,NfsLimitSaturated}; do
	awk -v cause="${pair%:*}" -v effect="${pair#*:}" '
		/^  - name:/ { known = 0 }
		$3 == cause { known = 1 }
		$3 == effect { found = known }
		END { exit !found }' alerts.yaml || die "alerts.yaml must have ${pair%:*} before ${pair#*:}, in the same group"
done

# The query for recoveries in METRICS.md: for one GPU by its address, for all by "all".
query=$(grep -m1 '^xidscope_gpu_xid_last_timestamp_seconds unless' "$root/docs/METRICS.md") || die "METRICS.md has no query for recoveries"
last='{series: "xidscope_gpu_xid_last_timestamp_seconds{instance=\"INSTANCE\",gpu=\"g\",xid=\"79\"}", values: 50}'
recovered='{series: "xidscope_gpu_recovered_timestamp_seconds{instance=\"INSTANCE\",gpu=\"GPU\",evidence=\"x\"}", values: TIME}'
cat >"$dir/recoveries.yaml" <<EOF
tests:
  - input_series:
      - ${last/INSTANCE/open}
      - ${last/INSTANCE/again}
      - $(sed 's/INSTANCE/again/; s/GPU/g/; s/TIME/40/' <<<"$recovered")
      - ${last/INSTANCE/probed}
      - $(sed 's/INSTANCE/probed/; s/GPU/g/; s/TIME/60/' <<<"$recovered")
      - ${last/INSTANCE/loaded}
      - $(sed 's/INSTANCE/loaded/; s/GPU/all/; s/TIME/60/' <<<"$recovered")
    promql_expr_test:
      - expr: 'count by (instance) ($query)'
        exp_samples: [{labels: '{instance="again"}', value: 1}, {labels: '{instance="open"}', value: 1}]
EOF
quietly "$promtool" test rules "$dir/recoveries.yaml"

# A node's page and METRICS.md have counters that begin above 0 from their first sample on, but not those that are as old as the
# agent.
cat >"$dir/page.yaml" <<EOF
tests:
  - interval: 1m
    input_series:
      - {series: 'xidscope_build_info{instance="a"}', values: 1x15 stale _x9 1x9}
      - {series: 'xidscope_rpc_errors_total{instance="a"}', values: _x10 1x5 stale _x9 1x9}
      - {series: 'xidscope_kernel_events_total{instance="a"}', values: _x10 1x5 stale _x9 1x9}
      - {series: 'xidscope_checkpoint_episode_seconds_count{instance="a"}', values: _x10 1x5 stale _x9 1x9}
      - {series: 'xidscope_gpu_xid_unverified_total{instance="a"}', values: _x10 1x5 stale _x9 1x9}
      - {series: 'xidscope_gpu_xid_errors_total{instance="a", severity="fatal"}', values: _x10 1x5 stale _x9 1x9}
      - {series: 'xidscope_gpu_xid_last_timestamp_seconds{instance="a"}', values: _x10 600x5 stale _x9 600x9}
      - {series: 'xidscope_nvswitch_sxid_errors_total{instance="a"}', values: _x10 1x5 stale _x9 1x9}
      - {series: 'xidscope_nvswitch_sxid_last_timestamp_seconds{instance="a"}', values: _x10 600x5 stale _x9 600x9}
    promql_expr_test:
EOF
{
	grep -P '"(title": "(Errors of calls|The kernel.s other messages)|name": "Checkpoint episodes)"' -A4 ../grafana/node.json |
		grep -oP '"expr": "\K([^"\\]|\\")*' | sed 's/\\"/"/g; s/\$instance/a/g; s/\$server/.*/g; s/\$__rate_interval/2m/g'
	grep -A1 -E '^# xidscope_(rpc_errors|kernel_events|gpu_xid_unverified|gpu_xid_errors|nvswitch_sxid_errors)(:|$)' "$root/docs/METRICS.md" |
		grep '^[^#-]' | sed -E 's/(\[|offset )(1h|10m|5m)/\12m/g'
} | while read -r query; do
	echo "      - {expr: 'max($query) > 0', eval_time: 11m, exp_samples: [{labels: '{}', value: 1}]}"
	echo "      - {expr: 'max($query) > 0', eval_time: 27m}"
done >>"$dir/page.yaml"
(($(grep -c expr: "$dir/page.yaml") == 16)) || die "node.json or METRICS.md lacks a query"
quietly "$promtool" test rules "$dir/page.yaml"

# As exported: NAME{LABEL LABEL}; a counter's sample ends in _total, a histogram has three.
"$xidscope" metrics | awk -F'\t' '
	{ gsub(/, /, " ", $4); labels = $4 " instance job node pod" }
	$2 != "histogram" { print $1 ($2 == "counter" ? "_total" : ""), labels; next }
	{ print $1 "_sum", labels; print $1 "_count", labels; print $1 "_bucket", labels, "le" }' >"$dir/metrics"
shopt -s nullglob
used=$(grep -ohE 'xidscope_[a-z_]+[a-z]' "${rules[@]}" ../grafana/*.json | sort -u | comm -23 - <(cut -d ' ' -f 1 "$dir/metrics" | sort -u))
[[ ! $used ]] || die "rules or dashboards use what xidscope does not export: $used; see 'xidscope metrics'"
# The series in the tests have all labels of their metric, and no others but those of the scrape.
grep -ohE 'xidscope_[a-z_]+\{.*\}' "${tests[@]}" | sort -u | awk '
	function lacks(labels, others, each, i) {
		for (i = split(labels, each, " "); i; i--)
			if (each[i] !~ /^(instance|job|node|pod)$/ && !index(others, " " each[i] " ")) return 1
	}
	FNR == NR { metric = $1; $1 = ""; known[metric] = $0 " "; next }
	{
		split($0, parts, /[{}]/)
		used = " "
		for (rest = parts[2]; match(rest, /[a-z_]+=/); rest = substr(rest, RSTART + RLENGTH)) used = used substr(rest, RSTART, RLENGTH - 1) " "
		if (!lacks(used, known[parts[1]]) && !lacks(known[parts[1]], used)) next
		printf "%s has the labels%sin the tests, but%sin xidscope\n", parts[1], used, known[parts[1]]
		exit 1
	}' "$dir/metrics" - >"$dir/differ" || die "$(<"$dir/differ")"

# GpuFatalXid has the catalog's sentence for each action of a fatal code.
"$xidscope" xid --list | awk '$1 !~ /^sxid:/ && $2 == "fatal" { print $1 }' | while read -r xid; do
	"$xidscope" xid "$xid" | sed -n 's/^  action *//p; s/^  advice *//p' | paste -sd'\t'
done | sort -u | while IFS=$'\t' read -r action advice; do
	grep -qF "eq \$labels.action \"$action\" }}$advice" alerts.yaml || die "GpuFatalXid lacks \"$action\": \"$advice\""
done
# XidscopeEventsDropped knows each reason that METRICS.md has.
# shellcheck disable=SC2016 # Markdown's backquotes
awk '/^#/ { drops = /^### Drops/ } drops' "$root/docs/METRICS.md" | sed -n 's/^| `\([a-z_]*\)` .*/\1/p' | while read -r reason; do
	grep -qE "eq \\\$labels.reason \"$reason\"|reason!~\"([a-z_]*\|)*${reason}[|\"]" alerts.yaml || die "XidscopeEventsDropped lacks $reason"
done
echo "$(wc -w <<<"$alerts") alerts are valid and tested"
