# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# SIGHUP writes now; --duration ends it; SIGKILL leaves a file that the next agent replaces; nothing stays loaded, nor by a session
# whose reader has ended.
agent_start
agent_write
kill -KILL "${agent:?}"
wait "$agent" || true
[[ -s x.prom ]]
rm agent.log
agent_start
agent_stop
[[ -s x.prom && ! -e .x.prom.lock ]]
/job/xidscope run --output - --interval 1 --duration 2 >stdout.txt 2>stderr.txt
[[ $(grep -c '^# EOF$' stdout.txt) -ge 2 ]]
/job/xidscope run --output - --duration 1 --format prometheus >prometheus.txt 2>>stderr.txt
grep -q '^# TYPE xidscope_events_dropped_total counter' prometheus.txt
[[ $(<prometheus.txt) != *'# EOF'* ]] # that is OpenMetrics
/job/xidscope trace --interval 0.2 2>>stderr.txt | head -n 1 || true
sleep 1
[[ $(bpftool -j prog | grep -c rpc_task_sleep) == 0 ]]
