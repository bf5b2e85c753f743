# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.checks import check_additive, check_no_drops, preemptible
from judge.reading import Metrics, difference, mountstats
from judge.truths import compare_with_mountstats


@judgement
def reloads_are_followed_and_leave_nothing(folder):
    log = (folder / "agent.log").read_text()
    sources = re.findall(r"attached to sunrpc, source (\w+)", log)
    rounds = len(list(folder.glob("round-*.prom")))
    need(rounds >= 3 and len(sources) == rounds, len(sources), "attachments in", rounds, "rounds")
    need(set(sources[1::2]) == {"tracepoints"}, "not in source tracepoints without types:", sources)
    preempted = preemptible(Metrics(folder / "round-1.prom"))
    for i in range(1, rounds + 1):
        metrics = Metrics(folder / f"round-{i}.prom")
        check_additive(metrics)
        ours = difference(Metrics(folder / f"before-{i}.prom"), metrics)
        need(ours.get("rpc_op_calls_total", op="READ") > 50, "next to no READ counted in round", i)
        # Where programs can be preempted, source tracepoints misses events: see 22-sources.py.
        if preempted and sources[i - 1] != "btf":
            continue
        check_no_drops(ours, preempted)
        compare_with_mountstats(folder, f"before-{i}", f"round-{i}")
        # The mount is younger than the source: counts that did not begin at 0 would be higher than the mount's.
        counted, theirs = metrics.get("rpc_op_calls_total", op="WRITE"), mountstats(folder / f"round-{i}.mountstats")
        need(counted == theirs["WRITE"]["ops"] > 0, counted, "WRITEs in round", i, "not", theirs["WRITE"]["ops"])
    gone = Metrics(folder / "gone.prom")
    need(not gone.each("rpc_op_calls_total") and gone.get("rpc_source") == 0, "counts of a source that has ended")
    left = {name: (folder / f"{name}.txt").read_text().split("\n")
            for name in ("before", "first", "last", "after")}
    need(left["before"] == left["after"], "left behind:", left["before"], left["after"])
    need(left["first"] == left["last"], "grown:", left["first"], left["last"])
    times = sorted(int(ms) for ms in (folder / "unload.ms").read_text().split())
    calls = Metrics(folder / f"round-{rounds}.prom").get("rpc_op_calls_total")
    return f"{rounds} rounds, {calls} calls, sources {', '.join(sorted(set(sources)))}; unloaded in " \
           f"{times[len(times) // 2]} ms, at most {times[-1]} ms; {', '.join(filter(None, left['last']))}"
