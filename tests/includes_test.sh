#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that includes.py finds an include in a wrong direction, one without its folder, a file outside the rooms, a room with
# too many units, headers with a single includer, a long function, a long list of parameters, a bare verb as a name, a field
# without a row, and a counter that is nowhere counted.
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
none='each include goes in an allowed direction, rooms and functions are small, fields have rows'
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
plant user/x.c base/log.h "user/x.c is in none of user/'s folders: base, snapshot, kernel, xid, owners, rpc, nfs, faults, limits, session, past, sinks, health, writer, commands"

# expect LINE: the only thing that includes.py prints of the copy, which is then emptied.
expect() {
	"$here/includes.py" "$copy" >"$copy/found" || true
	[[ $(<"$copy/found") == "$1" ]] || {
		echo "found '$(<"$copy/found")', not '$1'"
		exit 1
	}
	rm -r "$copy/user"
	mkdir -p "$copy/user/base"
}
rm -r "$copy/user"
mkdir -p "$copy/user/base"
or_raise='or raise the limit in tests/includes.py and give the reason in the commit'
touch "$copy"/user/base/x{1..24}.c
expect "user/base has 24 units, at most 23: join two, or give the room's second subject its own; $or_raise"
for number in {1..11}; do
	touch "$copy/user/base/h$number.h"
	echo "#include \"base/h$number.h\"" | tee "$copy/user/base/h$number.c" >>"$copy/user/base/user.c"
done
expect "11 headers have a single includer, at most 10: base/h1.h base/h10.h base/h11.h $(printf 'base/h%s.h ' {2..8})base/h9.h: move one's contents into its includer; $or_raise"
{ echo 'int f(void)'; echo '{'; seq 64 | sed 's,.*,	g();,'; echo '}'; } >"$copy/user/base/x.c"
expect "user/base/x.c:1: a function of 67 lines, at most 66: split it by what it does; $or_raise"
printf 'int f(int a, int b, int c, int d, int e, int f, int g)\n{\n}\n' >"$copy/user/base/x.c"
expect "user/base/x.c: f() has 7 parameters, at most 6: make some of them a struct"
printf 'static int look(int a)\n{\n}\n' >"$copy/user/base/x.c"
expect "user/base/x.c: look() needs a noun: of what?"
mkdir "$copy/user/snapshot"
cp "$here"/../user/snapshot/{calls.h,table.c} "$copy/user/snapshot"
sed -i 's/^	uint64_t sent_bytes;/&\n	bool planted;/; /#include/d' "$copy"/user/snapshot/*
expect 'user/snapshot/calls.h: planted of struct rpc_op has no row in user/snapshot/table.c'
cp -r "$here"/../user/{snapshot,rpc,nfs,faults,owners,limits} "$copy/user"
find "$copy/user" -name '*.h' -delete
find "$copy/user" -name '*.c' -exec sed -i '/#include/d; /->lock_calls/d' {} +
expect 'user/snapshot/table.c: lock_calls of struct rpc_server_state is counted in none of rpc, nfs, faults, owners, limits'
