#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make faults`: all faults on this machine, as root, then with NFS in a guest; each file that is left is read by promtool
# and by the Python parser. check.sh [--here | --guest] [KERNEL]   ONLY and PATTERNS as for faults.sh; OUT=DIR
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
where=all
case ${1:-} in --here | --guest) where=${1#--} && shift ;; esac
kernel=${1:-6.1}
out=${OUT:-$top/build/faults}
build=$top/build
rm -rf "$out"
mkdir -p "$out"
failed=0

# readers FILE...: fails if one of them does not read a file.
readers() {
	local promtool file code
	promtool=$("$top/tests/vm/tool.sh" prometheus usr/bin/promtool)
	for file; do
		code=0
		"$promtool" check metrics <"$file" >/dev/null 2>&1 || code=$?
		[[ $code == [03] ]] || echo "promtool does not read $file"
	done
	/usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
for path in sys.argv[1:]:
    try:
        list(read(open(path, encoding="utf-8").read()))
    except Exception as error:
        print("prometheus_client does not read", path, error)' "$@"
}

if [[ $where != guest ]]; then
	for what in 'killed 200' 'full 3' 'read-only 3' 'vanished 3'; do
		read -r name times <<<"$what"
		"$build/inject/inject" disturb "$out/$name" "$name" "$times" "$build/xidscope" || failed=1
	done
	OUT=$out/here "$here/faults.sh" "$build/inject/inject" "$build/xidscope" || failed=1
fi
if [[ $where != here ]]; then
	job=$(mktemp -d)
	trap 'rm -rf "$job"' EXIT
	cp "$build/inject/inject" "$build/xidscope" "$here/faults.sh" "$job/"
	cp "$here/guest.sh" "$job/run.sh"
	printf '%s\n' 'clock 3' 'cpu-offline 3' 'flood 5000' 'killed 20' >"$job/disturbances"
	echo "${PATTERNS:-walk all}" >"$job/patterns"
	echo "${ONLY:-}" >"$job/only"
	echo 80 >"$job/servers"
	"$top/tests/vm/boot.sh" --kernel "$kernel" --job "$job" --out "$out/guest" --timeout 5400 || failed=1
fi
mapfile -t files < <(find "$out" -name '*.prom' ! -name '.*')
unread=$(readers "${files[@]}")
echo "${#files[@]} files read by promtool and prometheus_client${unread:+, but: $unread}"
[[ -z $unread ]] || failed=1
exit "$failed"
