#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs rehearsal.py with Debian's programs:
#   rehearsal.sh [--nodes N] [--days N] [--seed N] [--incidents FILE] [--noise FILE]
#   rehearsal.sh --short     three days of 16 nodes, which must show what incidents.tsv has in them
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tool() { "$here/../vm/tool.sh" "$@"; }
work=$(mktemp -d "${FLEET_DIR:-${TMPDIR:-/tmp}}/xidscope-fleet.XXXXXX")
trap 'rm -rf "$work"' EXIT

options=("$@")
[[ ${1:-} != --short ]] || options=(--nodes 16 --days 3 --seed 1)
command=("$here/rehearsal.py" "${options[@]}" "$(tool prometheus usr/bin/promtool)" "$(tool prometheus usr/bin/prometheus)"
	"$(tool victoria-metrics usr/bin/victoria-metrics)" "$(tool victoria-metrics usr/bin/vmalert)" "$work")
/usr/bin/python3 -B "${command[@]}" | tee "$work/report"
# Two GPUs that fail, five nodes that are mounted otherwise, the storage system slow and then dead.
[[ ${1:-} != --short ]] || grep -qE '^found 9 of 9, early 2, false per day 0[.]00, ' "$work/report" || exit 1
