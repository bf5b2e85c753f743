#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that real readers take the metrics file in both formats: the Python reference parsers and promtool, which has
# node_exporter's parser. Usage: check.sh [WRITE_SAMPLE]; PROMTOOL names a promtool. Exit 77: no promtool to be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sample=${1:-$here/../../build/tests/write_sample}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() {
	echo "${0##*/}: $*" >&2
	failed=1
}

for detail in node op; do
	"$sample" facts $detail >"$tmp/facts-$detail"
	for format in openmetrics prometheus; do
		"$sample" $format $detail >"$tmp/$format-$detail"
		/usr/bin/python3 "$here/read_with_prometheus_client.py" $format "$tmp/facts-$detail" <"$tmp/$format-$detail" ||
			fail "prometheus_client does not read the $format format with --detail $detail"
	done
done

# A histogram without a distribution is one, too.
"$sample" openmetrics node unknown >"$tmp/unknown"
/usr/bin/python3 -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
calls = {f.name: f.samples for f in read(sys.stdin.read())}["xidscope_rpc_seconds"]
assert {s.labels.get("le", "+Inf") for s in calls} == {"+Inf"}' <"$tmp/unknown" ||
	fail "prometheus_client does not read a file in which much is unknown"
"$sample" prometheus node unknown >"$tmp/prometheus-unknown"

if promtool=${PROMTOOL:-$("$here/../vm/tool.sh" prometheus usr/bin/promtool)}; then
	for format in {openmetrics,prometheus}-{node,op} prometheus-unknown; do
		code=0
		"$promtool" check metrics <"$tmp/$format" >"$tmp/remarks" 2>&1 || code=$?
		# 0: no remark; 3: remarks on names and help; otherwise: not valid.
		[[ $code == [03] ]] || fail "promtool does not read the $format format (exit code $code)"
		# In OpenMetrics a counter's metadata have the name without _total, so promtool, a reader of Prometheus
		# text, finds none for the sample.
		if [[ $format == openmetrics-* ]]; then
			sed -i '/^xidscope_[a-z_]*_total no help text$/d' "$tmp/remarks"
		fi
		if [[ -s $tmp/remarks ]]; then
			cat "$tmp/remarks" >&2
			fail "promtool finds fault with the $format format"
		else
			echo "$format: promtool finds no fault"
		fi
	done
elif ((!failed)); then
	echo "SKIP: no promtool" >&2
	exit 77
fi
exit "$failed"
