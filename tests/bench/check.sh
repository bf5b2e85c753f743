#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures what a health check costs: the instructions of `xidscope check`, counted by valgrind, so that they repeat exactly, and
# its CPU time with the kernel's part, for an empty metrics file, one of usual size, one of 760 kB, and with mounts besides. Fails
# if a check takes more than 5 ms of CPU, or 5 million instructions: those are 5 ms at one for each ns.
#   check.sh [PROGRAM]
set -euo pipefail
top=$(realpath "$(dirname "$0")/../..")
program=$(realpath "${1:-$top/build/xidscope}")
"$top/tests/deps.sh" --only valgrind
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

judge() { "$top/build/tests/write_health" --ack none "${@:2}" >"$1"; }
judge empty --
judge usual -- xid=79:fatal:restart_bm:2:0 xid=62:warning:reset_gpu:1:0 waiter=75:nas
for i in {900..999}; do facts+=("xid=$i:fatal:restart_bm:2:0"); done
judge large -- "${facts[@]}"
cat >times.py <<'END'
import resource, subprocess, sys
begin = resource.getrusage(resource.RUSAGE_CHILDREN)
for _ in range(100):
    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)
end = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f" % ((end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime) * 10))
END
failed=0
# measure NAME FILE: prints a row.
measure() {
	local check=("$program" check --max-age 1d --health "$2") instructions milliseconds
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "${check[@]}" >/dev/null 2>counted || true # the verdict
	instructions=$(sed -n 's/.*Collected : //p' counted | sort -n | tail -n 1) # its processes begin with its own
	milliseconds=$(/usr/bin/python3 times.py "${check[@]}")
	echo "| $1 | $(stat -c %s "$2") | $instructions | $milliseconds |"
	awk -v i="$instructions" -v ms="$milliseconds" 'BEGIN { exit !(i > 0 && i <= 5e6 && ms <= 5) }' || failed=1
}
echo '| check | bytes | instructions | CPU, ms |'
echo '| --- | --- | --- | --- |'
measure "no fault" empty
measure "faults" usual
measure "a hundred faults" large
((failed == 0)) || echo "check.sh: over 5 million instructions or 5 ms" >&2
exit $failed
