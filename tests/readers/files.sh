#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints a line for each FILE that one of its three readers does not take: promtool, the Python reference parser, and
# node_exporter, which serves it. The last line says how many were read. files.sh FILE...   Exit 1: one was not taken.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tool=$here/../vm/tool.sh
promtool=$("$tool" prometheus usr/bin/promtool)
exporter=$("$tool" prometheus-node-exporter usr/bin/prometheus-node-exporter)
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tmp"' EXIT
failed=0
refused() {
	echo "$1 does not read $2"
	failed=1
}

mkdir "$tmp/textfile"
port=$((20000 + $$ % 10000))
"$exporter" --web.listen-address=127.0.0.1:$port --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$tmp/textfile" >"$tmp/log" 2>&1 &
curl -s --retry 50 --retry-connrefused --retry-delay 1 -o "$tmp/page" 127.0.0.1:$port/metrics
for file; do
	code=0
	"$promtool" check metrics <"$file" >/dev/null 2>&1 || code=$?
	# 3: remarks on names and help.
	[[ $code == [03] ]] || refused promtool "$file"
	cp "$file" "$tmp/textfile/x.prom"
	curl -s -o "$tmp/page" 127.0.0.1:$port/metrics
	if ! grep -q '^node_textfile_scrape_error 0$' "$tmp/page" || ! grep -q '^xidscope_build_info' "$tmp/page"; then
		refused node_exporter "$file"
	fi
done
/usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
bad = 0
for path in sys.argv[1:]:
    try:
        list(read(open(path, encoding="utf-8").read()))
    except Exception as error:
        print("prometheus_client does not read", path, error)
        bad = 1
sys.exit(bad)' "$@" || failed=1
echo "$# files given to promtool, prometheus_client and node_exporter: $([[ $failed == 0 ]] && echo all read || echo not all read)"
exit "$failed"
