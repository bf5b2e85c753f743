#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that deploy/dkms/xidscope-types keeps the types of a module at its place, and that one without build id is refused.
set -euo pipefail
top=$(dirname "$(realpath "$0")")/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo 'struct rpc_task { long tk_start; } task;' >module.c
gcc -g -c module.c
ld -r --build-id=0xabcdef0123456789 -o sunrpc.ko module.o
DESTDIR=$work/root "$top/deploy/dkms/xidscope-types" sunrpc.ko
kept=root/usr/lib/debug/.build-id/ab/cdef0123456789.debug
"${BPFTOOL:-/usr/sbin/bpftool}" btf dump file "$kept" | grep "STRUCT 'rpc_task'" >/dev/null
[[ $(find root -type f) == "$kept" && $(stat -c %a "$kept") == 644 ]]
if readelf -SW "$kept" | grep debug_info >/dev/null; then exit 1; fi
if readelf -SW sunrpc.ko | grep BTF >/dev/null; then exit 1; fi
ld -r --build-id=none -o anonymous.ko module.o
if DESTDIR=$work/root "$top/deploy/dkms/xidscope-types" anonymous.ko 2>message; then exit 1; fi
[[ $(<message) == "xidscope-types: anonymous.ko has no build id: build it with ld --build-id" ]]
echo "types_script.sh: types are kept by build id"
