#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of record.sh: brings a node through the states of nfs.sh, faults.sh or live.sh, and keeps each file that the
# agent writes as SECONDS-STATE.
set -eEuo pipefail
trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
# shellcheck source=tests/vm/guest-lib.sh
. /vm/guest-lib.sh
# shellcheck source=tests/vm/agent-lib.sh
. /job/agent-lib.sh
cd /job/out
exec 9<> <(:)
doze() { read -rt "$1" -u 9 || true; } # starts no process: those take most of the time where a clock counts instructions

# begin OPTION...: starts an agent, and waits for its first files.
begin() {
	agent_start --interval 5 --events none "$@"
	newest=
	keep first 1
}
# keep STATE N: the next files, which are those of N intervals in the state.
keep() {
	for ((i = 0; i < $2; i++)); do
		until [[ x.prom -nt $newest ]]; do doze 0.1; done
		newest=$(stat -c %.9Y x.prom)-$1
		cp -p x.prom "$newest"
	done
	echo "$1"
}
# during STATE N COMMAND...: the same, while the command runs.
during() {
	local command
	"${@:3}" &
	command=$!
	keep "$1" "$2"
	wait "$command"
}
. /job/states.sh
