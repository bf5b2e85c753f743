#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that many calls, with tasks killed in every phase, leave nothing behind and are counted exactly, and so do
# 50 reloads of sunrpc; and that mounts and unmounts and short intervals leave nothing behind: soak.sh [KERNEL].
#   SOAK_CALLS=1000000    calls; 0: neither these nor the reloads
#   SOAK_MOUNTS=300       mounts and unmounts, of NFSv3 and v4.1 from four servers
#   SOAK_SECONDS=600      at intervals of 0.1 s; 0: neither these nor the mounts
#   SOAK_PAUSE=0          seconds between the calls of those
# Takes about half an hour on an emulated CPU. The long soak: SOAK_CALLS=10000000 SOAK_MOUNTS=10000 SOAK_SECONDS=3600.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
kernel=${1:-6.1}
seconds=${SOAK_SECONDS:-600}
failed=0
if [[ ${SOAK_CALLS:=1000000} != 0 ]]; then
	SOAK_CALLS=$SOAK_CALLS TIMEOUT=${TIMEOUT:-7200} "$here/check.sh" --only "kills reload" "$kernel" || failed=1
fi
if ((seconds)); then
	job=$(mktemp -d)
	trap 'rm -rf "$job"' EXIT
	cp "$top/build/inject/inject" "$top/build/xidscope" "$job/"
	cp "$top/tests/inject/endurance.sh" "$job/run.sh"
	echo "$seconds" >"$job/seconds"
	echo "${SOAK_MOUNTS:-300}" >"$job/mounts"
	echo "${SOAK_PAUSE:-0}" >"$job/pause"
	"$here/boot.sh" --kernel "$kernel" --job "$job" --out "${OUT:=$top/build/soak}" --timeout "${TIMEOUT:-$((2 * seconds + 7200))}" ||
		failed=1
	"$top/tests/readers/files.sh" "$OUT"/*.prom || failed=1
fi
exit "$failed"
