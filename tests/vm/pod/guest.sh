#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the DaemonSet's agent can be replaced by that of another version, each in its own image, and the other way
# round, while NFS is used and faults are reported: each fault is counted once, no counter of faults falls, and there is
# always a fresh file.
set -Eeuo pipefail
cd /job
. ./container-lib.sh
. ./upgrade-lib.sh

stop_it() {
	crun kill xidscope TERM
	wait_for 120 ended # after 10 s kubelet would kill it, but a busy machine takes its time
	wait "$agent"
}
# As a DaemonSet does with maxSurge: 0.
replaced() {
	stop_it
	name=$1
	start_agent
}

step "the older version runs"
name=older
start_agent
traffic_begin
watch_begin
for next in privileged older privileged; do
	sleep 20
	step "$next instead of $name, under load"
	under_faults replaced "$next"
	wait_for 300 version_is "$(<"$next/version")\""
	none_is_lost
	(($(said 'continuing from the state file') == 1))
done
sleep 16
watched
traffic_end
stop_it
step "done"
