#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# In a guest an agent writes a file in each of many states:
#   record.sh nfs | faults ...   what the rehearsal's nodes are made of: from the files comes a table, nfs.tsv or faults.tsv
#   record.sh live               what the nodes of `make fleet-live` serve: the files themselves, in build/fleet-recordings/live
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
	[[ $1 != live ]] || return 0
	"$here/reduce.py" "$1" "$out/$1" >"$work/$1.tsv"
	mv "$work/$1.tsv" "$here/"
}
for part; do record "$part" & done
for part; do wait -n; done
