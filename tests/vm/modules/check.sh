#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs guest.sh, which tests the test drivers, on the kernels named (default: those of make check): check.sh [KERNEL...]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
kernels=("$@")
((${#kernels[@]})) || mapfile -t kernels < <(awk '!/^#/ && $5 != "transports" { print $1 }' "$here/../kernels.tsv")
work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-modules.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
for kernel in "${kernels[@]}"; do
	drivers=$("$here/../modules.sh" "$kernel")
	rm -rf "$work/job"
	mkdir "$work/job"
	cp -r "$drivers"/{tracepoint,function,text} "$work/job/"
	cp "$here/guest.sh" "$work/job/run.sh"
	if "$here/../boot.sh" --kernel "$kernel" --job "$work/job" --out "$work/out" --timeout 300; then
		echo "ok $kernel: the test drivers behave as NVIDIA's"
	else
		echo "FAIL $kernel: the test drivers do not behave as NVIDIA's"
		failed=1
	fi
done
exit "$failed"
