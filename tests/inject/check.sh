#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make faults`: all faults on this machine, as root, then with NFS in a guest, where the agent's own calls fail; each file
# that is left is given to all three readers. check.sh [--here | --guest] [KERNEL]   WHO, ONLY, PATTERNS as for faults.sh;
# OUT=DIR; DISTURB= leaves out what disturbs the guest as a whole
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

if [[ $where != guest ]]; then
	for what in 'killed 200' 'full 3' 'read-only 3' 'vanished 3'; do
		read -r name times <<<"$what"
		"$build/inject/inject" disturb "$out/$name" "$name" "$times" "$build/xidscope" || failed=1
	done >"$out/disturbed"
	cat "$out/disturbed"
	OUT=$out/here "$here/faults.sh" "$build/inject/inject" "$build/xidscope" || failed=1
fi
if [[ $where != here ]]; then
	job=$(mktemp -d)
	trap 'rm -rf "$job"' EXIT
	cp "$build/inject/inject" "$build/xidscope" "$here/faults.sh" "$job/"
	cp "$here/guest.sh" "$job/run.sh"
	: >"$job/disturbances"
	if [[ ${DISTURB-yes} ]]; then
		printf '%s\n' 'clock 3' 'cpu-offline 3' 'killed 20' >"$job/disturbances"
	fi
	echo "${PATTERNS:-walk all}" >"$job/patterns"
	echo "${ONLY:-}" >"$job/only"
	echo "${WHO:-agent}" >"$job/callers"
	"$top/tests/vm/boot.sh" --kernel "$kernel" --job "$job" --out "$out/guest" --timeout "${TIMEOUT:-5400}" || failed=1
fi
mapfile -t files < <(find "$out" -name '*.prom' ! -name '.*')
"$top/tests/readers/files.sh" "${files[@]}" || failed=1
exit "$failed"
