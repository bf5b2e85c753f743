#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs all scenarios on the kernels named (default: the ones `make check` stands for) and judges what they leave.
# What does not depend on the kernel (the container image, and scenarios from 80 on) is run on the first of them alone.
# A guest uses one CPU of this machine, so that as many run at once. Prints a line per test and at the end
# "N passed, N failed, N skipped".
#   check.sh [--transports] [--only "SCENARIO..."] [KERNEL...]
# --transports: those in transports/ instead: NFS over RDMA, TLS, with Kerberos, and pNFS, in an image of their own
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
scenarios=$here/scenarios image=() kernels=(6.1 6.12 newest)
if [[ ${1:-} == --transports ]]; then
	scenarios=$here/transports kernels=(6.1-full newest-full)
	image=(--image transports --packages "$scenarios/rootfs.packages" --suite trixie)
	shift
fi
only=''
if [[ ${1:-} == --only ]]; then
	only=$2
	shift 2
fi
(($# == 0)) || kernels=("$@")
results=$top/build/vm
mkdir -p "$results"

work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-check.XXXXXX")
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	local guests
	mapfile -t guests < <(jobs -p)
	((${#guests[@]} == 0)) || kill "${guests[@]}" 2>/dev/null || true
	wait
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
promtool=$("$here/tool.sh" prometheus usr/bin/promtool)
verdicts=$results/verdicts

boot() { # boot KERNEL JOB OUT
	rm -rf "$3"
	"$here/boot.sh" --kernel "$1" --job "$2" --out "$3" --timeout "${TIMEOUT:-1200}" "${image[@]}" 2>&1
}

# prepare_scenarios KERNEL JOB: what needs the network is done before the guests run.
prepare_scenarios() {
	mkdir -p "$2"
	cp -r "$scenarios" "$2/scenarios"
	cp -r "$here/agent-lib.sh" "${XIDSCOPE:-$top/build/xidscope}" "$top/tests/data" "$2/"
	((${#image[@]})) || cp -r "$("$here/modules.sh" "$1")" "$2/modules"
	cp "$here/run-scenarios" "$2/run.sh"
	echo "$only" >"$2/only"
	echo "${SOAK_CALLS:-0}" >"$2/soak_calls"
	[[ $1 == "${kernels[0]}" ]] || rm -f "$2"/scenarios/[89]*.sh
}

check_scenarios() { # check_scenarios KERNEL JOB
	if boot "$1" "$2" "$results/$1"; then
		/usr/bin/python3 "$here/verify.py" "$results/$1" "$1" "$promtool"
	else
		echo "FAIL $1: the guest did not finish"
	fi
}

check_container() { # check_container KERNEL JOB
	local name="$1: the image runs under the DaemonSet's and the unit's settings"
	if boot "$1" "$2" "$results/$1-container" >"$2.log" 2>&1; then
		echo "ok $name"
	else
		printf 'FAIL %s\n%s\n' "$name" "$(tail -n 15 "$2.log" | sed 's/^/    /')"
	fi
}

# in_turn COMMAND KERNEL JOB: runs it beside the others as soon as a CPU is free. Verdicts are kept, all else tells how
# it goes.
in_turn() {
	while (($(jobs -pr | wc -l) >= $(nproc))); do wait -n || true; done
	"$@" | sed -u -e "/^\(ok\|FAIL\|skip\) /{w $3.verdicts" -e 'b}' -e "s/^/$2: /" &
}

for kernel in "${kernels[@]}"; do
	prepare_scenarios "$kernel" "$work/$kernel"
	in_turn check_scenarios "$kernel" "$work/$kernel"
done
if ((${#image[@]} == 0)) && [[ -z $only || $only == *container* ]]; then
	first=${kernels[0]}
	mkdir "$work/container"
	"$here/container/prepare.sh" "$work/container"
	cp "$work/$first/modules/tracepoint/nvidia.ko" "$work/container/"
	in_turn check_container "$first" "$work/container"
fi
wait
cat "$work"/*.verdicts >"$verdicts"
passed=$(grep -c '^ok ' "$verdicts" || true)
failed=$(grep -c '^FAIL ' "$verdicts" || true)
skipped=$(grep -c '^skip ' "$verdicts" || true)
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
