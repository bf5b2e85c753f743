#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that a call costs the same with 1, 16 and 128 transports, 1 to 32 servers and 1,000 tasks waiting, and that a
# write of the file takes time in proportion to its samples. Then measures what the agent takes on a node that has very many
# CPUs, tasks, groups, servers, namespaces or mounts. growth.sh [KERNEL [CROWD...]]: of these, only the crowds named.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
kernel=${1:-6.1}
declare -A titles=([nothing]="one mount" [cpus]="256 possible CPUs" [tasks]="100,000 tasks" [groups]="20,000 control groups a minute" [servers]="300 servers"
	[namespaces]="200 network namespaces" [mounts]="5,000 mounts")
crowds=("${@:2}")
cp "$here/ops.sh" "$top/tests/vm/agent-lib.sh" "$top/build/xidscope" "$top/build/bench/load" "$job/"
if ((!${#crowds[@]})); then
	crowds=(nothing cpus tasks groups servers namespaces mounts)
	cp "$here/growth-guest.sh" "$job/run.sh"
	in_guest "$kernel" growth --append 'nokaslr norandmaps nowatchdog' --image bench --packages "$here/rootfs.packages"
	/usr/bin/python3 "$here/growth.py" "$results/growth" | tee "$results/growth.md" || status=1
	put growth "$results/growth.md"
fi
cp "$here/crowd-guest.sh" "$job/run.sh"
for crowd in "${crowds[@]}"; do
	echo "$crowd" >"$job/crowd"
	cpus=()
	[[ $crowd != cpus ]] || cpus=(--append possible_cpus=256)
	in_guest "$kernel" "crowd-$crowd" --memory 8192 "${cpus[@]}"
done
{
	echo "| a node with | start, ms | CPU, ms per 15 s | resident, MB | at most | samples | left out |"
	echo "|---|---|---|---|---|---|---|"
	for crowd in "${crowds[@]}"; do echo "| ${titles[$crowd]} | $(<"$results/crowd-$crowd/row") |"; done
} | tee "$results/crowds.md"
((${#crowds[@]} < ${#titles[@]})) || put crowds "$results/crowds.md"
exit "${status:-0}"
