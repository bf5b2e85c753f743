#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packs the chart: package.sh VERSION IMAGE ARCHIVE
# The chart has no objects of its own: its files are links to the kustomize base, its overlays, the rules and the dashboards. IMAGE is
# the repository, without a tag. The README has values.yaml. Of the time SOURCE_DATE_EPOCH (0); RUNBOOK is the runbook's address,
# SOURCE_URL that of the sources.
set -euo pipefail
runbook=${RUNBOOK:-}
here=$(dirname "$(realpath "$0")")
tree=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-chart.XXXXXX")
trap 'rm -rf "$tree"' EXIT
umask 022
export LC_ALL=C.UTF-8
chart=$tree/xidscope
cp -rL "$here/xidscope" "$chart"
find "$chart/files/prometheus" -type f ! -name '*.yaml' -delete
find "$chart/files" -name '*_test.yaml' -delete
find "$chart/files/grafana" -type f ! -name '*.json' -delete
sed -i "s/^\(version\|appVersion\): .*/\1: $1/" "$chart/Chart.yaml"
exporter=$(sed -n 's/^ *image: //p' "$chart/files/scraped.yaml")
{
	# Artifact Hub shows these, and looks for their faults.
	printf '  %s\n' 'artifacthub.io/images: |' '  - name: xidscope' "    image: $2:$1" '  - name: node-exporter' "    image: $exporter"
	[[ ! ${SOURCE_URL:-} ]] || printf '%s\n' "home: $SOURCE_URL" "sources: [$SOURCE_URL]"
} >>"$chart/Chart.yaml"
sed -i "s|^  repository: .*|  repository: $2|; s|^  runbook: .*|  runbook: \"${runbook//&/\\&}\"|" "$chart/values.yaml"
{
	sed -n 's/^description: \(.*\)/# xidscope\n\n\1.\n\n## Values\n/p' "$chart/Chart.yaml"
	# shellcheck disable=SC2016 # for Markdown
	printf '```yaml\n%s\n```\n' "$(sed 1d "$chart/values.yaml")"
} >"$chart/README.md"
(cd "$tree" && find xidscope -type f | sort) |
	tar --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -C "$tree" --no-recursion -T - -c | gzip -n9 >"$3"
