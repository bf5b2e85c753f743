#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make soak`. Proves that many calls, with tasks killed in every phase, leave nothing behind and are counted exactly, and so
# do 50 reloads of sunrpc; and that mounts and unmounts and short intervals leave nothing behind: soak.sh [KERNEL].
#   SOAK_CALLS=10000000   calls; 0: neither these nor the reloads
#   SOAK_MOUNTS=10000     mounts and unmounts, of NFSv3 and v4.1 from four servers
#   SOAK_SECONDS=3600     at intervals of 0.1 s at least; 0: neither these nor the mounts
#   SOAK_PAUSE=0          seconds between the calls of those
#   TIMEOUT=SECONDS       of each guest (an emulated CPU does 100 calls in a second, and a mount in three, at least)
#   OUT=DIR
# A million calls, 300 mounts and 600 seconds take half an hour on an emulated CPU.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
kernel=${1:-6.1}
calls=${SOAK_CALLS:-10000000} mounts=${SOAK_MOUNTS:-10000} seconds=${SOAK_SECONDS:-3600}
out=${OUT:-$top/build/soak}
failed=0
if ((calls)); then
	SOAK_CALLS=$calls TIMEOUT=${TIMEOUT:-$((7200 + calls / 100))} "$here/check.sh" --only "kills reload" "$kernel" || failed=1
fi
if ((seconds)); then
	job=$(mktemp -d)
	trap 'rm -rf "$job"' EXIT
	cp "$top/build/inject/inject" "$top/build/xidscope" "$job/"
	cp "$top/tests/inject/endurance.sh" "$job/run.sh"
	echo "$seconds" >"$job/seconds"
	echo "$mounts" >"$job/mounts"
	echo "${SOAK_PAUSE:-0}" >"$job/pause"
	"$here/boot.sh" --kernel "$kernel" --job "$job" --out "$out" \
		--timeout "${TIMEOUT:-$((7200 + 2 * seconds + 3 * mounts))}" ||
		failed=1
	"$top/tests/readers/files.sh" "$out"/*.prom || failed=1
fi
exit "$failed"
