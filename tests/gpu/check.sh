#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves on a real NVIDIA GPU that each Xid of the driver is counted once, as the kernel log has it, by an agent that runs
# and by one that starts later; that GPU and number of GPUs are those of nvidia-smi; and that a line of a process is no
# fault. Needs root, nvcc and the driver. The errors are a program's own (xids.cu): no GPU is reset, no setting changes.
set -uo pipefail
here=$(dirname "$(realpath "$0")") program=$(realpath "$XIDSCOPE")
for tool in nvcc nvidia-smi; do
	type -P $tool >/dev/null || {
		echo "$tool is missing: this test needs CUDA and a GPU"
		exit 77
	}
done
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit
passed=0 failed=0

# is WHAT WANTED SEEN
is() {
	if [[ $2 == "$3" ]]; then
		echo "ok: $1" && ((++passed))
	else
		echo "FAILED: $1: wanted '$2', seen '$3'" && ((++failed))
	fi
}

# xids_of FILE: number and count of each Xid in a metrics file. logged: the same of the kernel's own records.
xids_of() { sed -nE 's/^xidscope_gpu_xid_errors_total\{.*xid="([0-9]+)".*\} /\1 /p' "$1" | sort; }
logged() {
	timeout 2 dd if=/dev/kmsg iflag=nonblock bs=8192 2>/dev/null | grep -aE '^[0-7],' >records
	sed -nE 's/.*;NVRM: Xid \(PCI:[^)]*\): ([0-9]+),.*/\1/p' records | sort | uniq -c | awk '{ print $2, $1 }' | sort
}

status() {
	"$program" "$@" >>answers
	echo $?
}

# agent FILE COMMAND...: runs COMMAND beside an agent that writes FILE, and waits until FILE has all of it.
agent() {
	local file=$1
	shift
	"$program" run --hooks gpu --interval 1s --keep --events events --output "$file" --health health.json ${wanted:+--gpus "$wanted"} 2>>agent.log &
	until [[ -e $file ]]; do sleep 0.1; done
	"$@"
	sleep 2.5
	status check --health health.json >"$file.status"
	kill %% && wait %%
}

provoke() {
	local error
	for error in unmapped misaligned trap unmapped trap; do
		./xids $error
		sleep 0.5
	done
}
forge() { echo '<3>NVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, GPU has fallen off the bus.' >/dev/kmsg; }

nvcc -arch=native -o xids "$here/xids.cu" || exit
before=$(logged)
agent running.prom provoke
after=$(logged)
is "CUDA's errors are in the kernel log" yes "$([[ $after != "$before" ]] && echo yes)"
is "counts of the agent that ran: number and count of each Xid" "$after" "$(xids_of running.prom)"
is "each message was seen with its caller" 1 "$(sed -nE 's/^xidscope_gpu_fault_authority\{authority="hook"\} //p' running.prom)"
gpus=$(nvidia-smi --list-gpus | wc -l)
wanted=$gpus agent later.prom forge
is "an agent that starts later counts the same, and no process's line" "$after" "$(xids_of later.prom)"
forged() { sed -nE 's/^xidscope_kernel_events_total\{kind="forged_xid".*\} //p' "$1"; }
is "the process's line is an attempt" $(($(forged running.prom) + 1)) "$(forged later.prom)"
is "UUID and serial number" "$(nvidia-smi --query-gpu=uuid,serial --format=csv,noheader | sort | sed 's/, /" serial="/')" \
	"$(sed -nE 's/^xidscope_gpu_info\{.*uuid="([^"]*)",serial="([^"]*)".*/\1" serial="\2/p' running.prom | sort)"
is "check: faults of programs leave the node fit" 0 "$(<later.prom.status)"
wanted=$((gpus + 1)) agent more.prom true
is "check: one GPU more than there is" 2 "$(<more.prom.status)"
sed -n 's/^[^;]*;//p' records | grep '^NVRM: Xid' | head -n 20 >lines
"$program" xid - <lines >explained
is "xid explains each line" "$(wc -l <lines)" "$(grep -c '^Xid [0-9]*:' explained)"
((failed == 0)) || cat agent.log
echo "$passed passed, $failed failed: driver $(cat /sys/module/nvidia/version), kernel $(uname -r), $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
((failed == 0))
