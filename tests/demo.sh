#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make demo`: boots a guest, whose clock counts instructions, and shows in it what the program does. The first
# run also fetches a kernel and builds a root file system.
set -euo pipefail
top=$(dirname "$(realpath "$0")")/..
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-demo.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$top/build/xidscope" "$top/tests/vm/demo/run.sh" "$job/"
rm -rf "$top/build/demo"
"$top/tests/vm/boot.sh" --icount --kernel "${KERNEL:-6.1}" --job "$job" --out "$top/build/demo" --timeout 300
echo
echo "The whole metrics file is build/demo/xidscope.prom, the whole report build/demo/report.txt."
