# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What jobs share that run bundles of container/bundle.py: an agent in a container, as the DaemonSet has it. A bundle's name is
# in $name.
. ./deploy-lib.sh

crun() { command crun --cgroup-manager=cgroupfs "$@"; }
hup() { crun kill xidscope HUP; }
running() { [[ $(crun state xidscope 2>/dev/null) == *'"status": "running"'* ]]; }
ended() { ! running; }
said() { grep -c -F "$1" "out/$name.log" || true; }

start_agent() { # of the bundle $name
	. "$name/settings"
	# shellcheck disable=SC2154 # create, output, probe and grace are among the settings
	install -d -o 65534 -g 65534 "${create[@]}" # it may belong to node_exporter's user
	# check_probe fills it.
	mountpoint -q "${output%/*}" || mount -t tmpfs -o size=4M,mode=755,uid=65534 tmpfs "${output%/*}"
	crun run --bundle "$name" xidscope >"out/$name.log" 2>&1 &
	agent=$!
	wait_for 120 test -s "$output"
	running
	pid=$(crun state xidscope | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
}

stop_agent() {
	local status=0 cgroup memory
	cgroup=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
	memory=$({ cat "$cgroup"/memory.{max,current,peak} 2>/dev/null || true; } | paste -sd' ') # no peak before 5.19
	step "$name: SIGTERM ends it with 0 and removes the file (memory limit, now, peak: $memory)"
	crun kill xidscope TERM
	# shellcheck disable=SC2154
	wait_for "$grace" ended
	wait "$agent" || status=$?
	((status == 0))
	[[ -z $(ls -A "$(dirname "$output")") ]]
}
