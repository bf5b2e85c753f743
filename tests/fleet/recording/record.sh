#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make fleet-recordings`: in two guests an agent writes what the rehearsal's nodes are made of, nfs.tsv and faults.tsv:
#   record.sh [nfs | faults]
# The guests' clocks count instructions, so it does not matter how busy this machine is.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../../..")
out=$top/build/fleet-recordings
work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-recording.XXXXXX")
trap 'rm -rf "$work"' EXIT
modules=$("$top/tests/vm/modules.sh" 6.1)
record() {
	mkdir "$work/$1"
	cp -r "$top/build/xidscope" "$top/tests/vm/agent-lib.sh" "$work/$1/"
	cp -r "$modules" "$work/$1/modules"
	cp "$here/guest.sh" "$work/$1/run.sh"
	cp "$here/$1.sh" "$work/$1/states.sh"
	rm -rf "${out:?}/$1"
	"$top/tests/vm/boot.sh" --kernel 6.1 --job "$work/$1" --out "$out/$1" --timeout 7200 --errors --icount
	"$here/reduce.py" "$1" "$out/$1" >"$work/$1.tsv"
	mv "$work/$1.tsv" "$here/"
}
read -ra parts <<<"${1:-nfs faults}"
for part in "${parts[@]}"; do record "$part" & done
for part in "${parts[@]}"; do wait -n; done
