#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of printk.sh. The agent is stopped while the messages are printed, so that only its hook runs.
set -euo pipefail
cd /job
mkdir -p out
. /vm/guest-lib.sh
# shellcheck source=tests/vm/agent-lib.sh
. /job/agent-lib.sh
dmesg -n 1
insmod /job/nvidia.ko
agent=''
measure() { # measure TEXT: instructions per message, the median of five times 200
	local begin end
	for _ in {1..5}; do
		begin=$(date +%s%N)
		echo "count 200 raw $1" >/proc/xidscope-driver
		end=$(date +%s%N)
		echo $(((end - begin) / 200))
		[[ ! $agent ]] || kill -CONT "$agent"
		sleep 1
		[[ ! $agent ]] || kill -STOP "$agent"
	done | sort -n | sed -n 3p
}
text='usb 1-1: new high-speed USB device number 2 using xhci_hcd '
measure_all() {
	echo "$1: 60 bytes $(measure "$text"), 480 bytes $(measure "$text$text$text$text$text$text$text$text")," \
		"60 bytes with a mark $(measure "NVRM${text:4}")" >>out/results
}
measure_all 'nothing attached'
agent_start --hooks gpu --events none
sleep 1
kill -STOP "$agent"
measure_all 'printk hook'
kill -KILL "$agent"
