#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves on a recording that `xidscope top` has the figures of `trace --json` of the same time, on the screen of a terminal and
# as text, that it obeys its keys, and that each end leaves the terminal as it was; and that `xidscope status` shows in ten
# lines what the agent found. Needs no kernel and no root.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
"$top/build/tests/write_recording" >made.rec
"$program" trace --replay made.rec --json made.json >/dev/null || fail "trace refuses the recording"

# ---- text ----

for by in mounts owners both ops servers connections; do
	expect 0 "*
$by *" "" top --replay made.rec --batch 1000 --by $by
	mv out $by
done
/usr/bin/python3 "$top/tests/cli/top_figures.py" made.json mounts owners both ops servers || fail "figures differ: see above"
expect 0 "*connections *
tcp/0 nas-1 10.0.0.1:2049 *" "" top --replay made.rec --batch 1 --by connections
expect 0 "*/mnt/checkpoint nas-1:/export *" "" top --replay made.rec --batch 1 --server nas-1 --mount '*/checkpoint'
[[ $(<out) != *home* ]] || fail "--mount does not hide other mounts"
expect 0 "*GPU faults: 1 open, 1 since boot: Xid 79 on 0000:c1:00.0*" "" top --replay made.rec --batch 180
LC_ALL=C grep -q $'\x1b' mounts owners both ops servers connections && fail "text has escape sequences"
expect 0 "*connections*" "" top --replay made.rec --batch 1 --by connections --interval 2 --source btf \
	--sunrpc-btf x --health none
TERM=xterm expect 1 "" "xidscope: top needs a terminal that can place text; use top --batch 1, or trace" top --replay made.rec
expect 2 "" "xidscope: invalid --by 'calls': use one of mounts, owners, both, ops, servers, connections*" top --by calls

# ---- the screen ----

/usr/bin/python3 "$top/tests/cli/top_screen.py" "$program" top --replay made.rec || fail "the screen: see above"

# ---- status ----

time=$(date -u +%FT%TZ)
judge health -- "xid=79:fatal:restart_bm:2:$time" "waiter=99:nas-2"
touch nodes.prom
expect 0 "*Xid 79*
agent     runs, judged this node ? s ago, source *
servers   nas-2 (no limit)
health    critical, 2 findings: xidscope check --explain
          NFS server nas-2*
faults    1 open, 1 since boot: xidscope faults
next      live: xidscope top; what happened: xidscope why" "" status --health health
(($(wc -l <out) <= 10)) || fail "status has more than ten lines"
"$program" ack --ack acks --health health '*' 79 >/dev/null || fail "the finding cannot be acknowledged"
judge health --ack acks -- "xid=79:fatal:restart_bm:2:$time" "waiter=99:nas-2"
expect 0 "NFS server nas-2*health    warning, 1 finding: *" "" status --health health
[[ $(grep -A1 ^health out | tail -n 1) == faults* ]] || fail "status shows what is acknowledged: $(<out)"
expect 1 "agent     not known: cannot read none: No such file or directory: *" "" status --health none
judge health -- $'waiter=99:nas\x1b[2J-2'
"$program" status --health health | LC_ALL=C grep -q $'\x1b' && fail "a server's name reaches the terminal"
"$program" top --replay made.rec --batch 1 --health health | LC_ALL=C grep -q $'\x1b' && fail "a finding reaches the terminal"

((failed)) || echo "top has the figures of trace, and leaves the terminal as it was; status shows the agent's findings"
exit $failed
