#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that includes.py finds an include in a wrong direction, one without its folder, and a file outside the rooms.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# plant FILE INCLUDE LINE: what includes.py prints of a file that has this include, and no more than it prints without.
plant() {
	mkdir -p "$copy/user/rpc" "$copy/user/base" "$copy/bpf" "$copy/include" "$copy/vmlinux" "$copy/$(dirname "$1")"
	touch "$copy/user/rpc/source.h" "$copy/user/base/log.h" "$copy/include/rpc.h" "$copy/vmlinux/kernel.h"
	if [[ $2 == '<'* ]]; then echo "#include $2"; else echo "#include \"$2\""; fi >"$copy/$1"
	"$here/includes.py" "$copy" >"$copy/found" || true
	[[ $(<"$copy/found") == "$3" ]] || {
		echo "$1 with $2: found '$(<"$copy/found")', not '$3'"
		exit 1
	}
	rm "$copy/$1"
}
none='each include goes in an allowed direction'
plant user/sinks/x.c base/log.h "$none"
plant user/sinks/x.c rpc.h "$none"
plant user/sinks/x.c rpc.skel.h "$none"
plant user/main.c rpc/source.h "$none"
plant bpf/x.bpf.c kernel.h "$none"
plant user/sinks/x.c rpc/source.h 'user/sinks/x.c includes rpc/source.h: sinks may include base, snapshot, xid, limits, session'
plant user/base/x.h rpc/source.h 'user/base/x.h includes rpc/source.h: base may include nothing'
plant user/sinks/x.c kernel.h 'user/sinks/x.c includes kernel.h: it must be written with its folder'
plant user/base/x.c log.h 'user/base/x.c includes log.h: it must be written with its folder'
plant user/base/x.c '<rpc/source.h>' 'user/base/x.c includes rpc/source.h: base may include nothing'
plant bpf/x.bpf.c base/log.h 'bpf/x.bpf.c includes base/log.h: bpf may include include, vmlinux and its own'
plant include/x.h kernel.h 'include/x.h includes kernel.h: include includes nothing of ours but itself'
plant user/x.c base/log.h "user/x.c is in none of user/'s folders: base, snapshot, kernel, xid, rpc, faults, limits, session, past, sinks, health, writer, commands"
