#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make faults`: each system call of the agent and of its writer fails in a guest, and the agent is disturbed as a whole; all
# three readers get the files that are left. check.sh [KERNEL]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
out=$top/build/faults
job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT
rm -rf "$out"
mkdir -p "$out"
failed=0
cp "$top/build/xidscope" "$here/faults.py" "$job/"
cp "$here/guest.sh" "$job/run.sh"
for what in 'killed 40' 'full 3' 'read-only 3' 'vanished 3' 'clock 2' 'cpu-offline 3' 'calls'; do
	echo "$what /job/xidscope"
done >"$job/cases"
"$top/tests/vm/boot.sh" --image faults --packages "$here/rootfs.packages" --kernel "${1:-6.1}" --job "$job" --out "$out/guest" \
	--timeout "${TIMEOUT:-7200}" || failed=1
mapfile -t files < <(find "$out" -name '*.prom')
"$top/tests/readers/files.sh" "${files[@]}" || failed=1
exit "$failed"
