#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make soak`. Proves that many calls, mounts and unmounts, for long and all at once, leave nothing behind and are counted
# exactly, whole files all the time; and so do tasks killed in every phase, and 50 reloads of sunrpc: soak.sh [KERNEL].
#   SOAK_SECONDS=3600     for so long at least, an agent writing its file every 0.1 s
#   SOAK_CALLS=10000000   calls at least, of one GETATTR each
#   SOAK_MOUNTS=10000     mounts and unmounts at least, of NFSv3, v4.0, v4.1 and v4.2, from two servers
#   SOAK_LIMIT=SECONDS    no longer than that (9000): what is missing then is reported as missing
#   SOAK_KILLED=1000000   calls at least while tasks are killed, and the reloads; 0: neither (100 in a second, emulated)
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
kernel=${1:-6.1}
seconds=${SOAK_SECONDS:-3600} calls=${SOAK_CALLS:-10000000} mounts=${SOAK_MOUNTS:-10000} limit=${SOAK_LIMIT:-9000}
killed=${SOAK_KILLED:-1000000}
out=$top/build/soak
failed=0
if ((seconds)); then
	job=$(mktemp -d)
	trap 'rm -rf "$job"' EXIT
	rm -rf "$out"
	cp "$top/tests/inject/faults.py" "$top/build/soak-load" "$top/build/xidscope" "$job/"
	mv "$job/soak-load" "$job/nfs_load"
	cp "$here/guest.sh" "$job/run.sh"
	printf '%s\n' "seconds=$seconds" "calls=$calls" "mounts=$mounts" "limit=$limit" \
		"threads='$(printf '/mnt/three %.0s' {1..15}) /mnt/four'" >"$job/settings"
	# One CPU, emulated, does more calls than two that take turns. What slows an emulation without need is off.
	"$top/tests/vm/boot.sh" --image faults --packages "$top/tests/inject/rootfs.packages" --kernel "$kernel" --job "$job" --out "$out" --timeout $((limit + 900)) \
		--append 'mitigations=off init_on_alloc=0 tsc=reliable clocksource=tsc audit=0 apparmor=0' --smp 1 || failed=1
	PYTHONPATH=$top/tests/vm /usr/bin/python3 -B "$here/verdict.py" "$out" "$seconds" "$calls" "$mounts" || failed=1
	"$top/tests/readers/files.sh" "$out"/*.prom || failed=1
fi
if ((killed)); then
	SOAK_CALLS=$killed TIMEOUT=${TIMEOUT:-$((7200 + killed / 100))} "$top/tests/vm/check.sh" --only "kills reload" "$kernel" ||
		failed=1
fi
exit "$failed"
