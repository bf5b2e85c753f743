# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from decimal import Decimal

from judge import Skip, judgement, need
from judge.checks import check_no_drops, check_replies, merged, preemptible
from judge.reading import Metrics, between, difference, mountstats_all
from judge.truths import compare_rtt, compare_with_mountstats


def of_the_load(sums):
    """Without renewals of leases: one may come between the moments at which two agents look."""
    return {key: value for key, value in sums.items() if not {"SEQUENCE", "RENEW"} & set(key)}


@judgement
def the_sources_agree(folder):
    sources = (folder / "sources").read_text().split()
    last = Metrics(folder / sources[-1] / "after.prom")
    first = compare_with_mountstats(folder / sources[0], "before", "after", mountstats_all)
    compare_rtt(folder / sources[0], "before", "after", first, mountstats_all, mounts=2)
    if sources[0] == "btf":
        check_replies(first)
    if sources == ["btf", "tracepoints"] and preemptible(Metrics(folder / "btf" / "after.prom")):
        theirs = difference(Metrics(folder / "tracepoints" / "before.prom"), last)
        calls, found = (sum(of_the_load(merged(metrics, "rpc_op_calls_total", "op")).values())
                        for metrics in (first, theirs))
        missed = calls - found
        kept = last.get("events_dropped_total", reason="rpc_recursion")
        need(0 <= missed <= kept <= calls / 50, "source tracepoints missed", missed, "of", calls,
             "calls, and reports", kept, "lost events")
        return f"{calls} calls in source btf; preemption lost {kept} events and {missed} calls of source tracepoints"
    ours = {source: compare_with_mountstats(folder / source, "before", "after", mountstats_all)
            for source in sources}
    for source in sources:
        check_no_drops(Metrics(folder / source / "after.prom"))
        need(ours[source].get("rpc_phase_seconds_total", phase="slot") > 1, "no call waited for a slot")
        # Long if four session slots stay four: see 31-session.py. Otherwise at least at the beginning.
        need(ours[source].get("rpc_phase_seconds_total", phase="session") > 0, "no call waited for a session slot")
    if sources != ["btf", "tracepoints"]:
        calls = ours["tracepoints"].get("rpc_op_calls_total")
        raise Skip(f"in source tracepoints alone: {calls} calls equal mountstats'")
    single = [of_the_load(merged(between(folder / source, "before", "single"),
                                 "rpc_op_phase_seconds_total", "server", "op", "phase")) for source in sources]
    waited = [key for key, value in single[0].items() if value and key[2] in ("session", "slot", "send", "delay")]
    differ = [(key, value, single[1].get(key)) for key, value in single[0].items() if value != single[1].get(key)]
    need(single[0] and not waited and not differ, "one call at a time: waited:", waited, "differ:", differ)
    a, b = ours["btf"], ours["tracepoints"]
    for name, labels in (("rpc_op_calls_total", ("server", "op")), ("rpc_op_seconds_total", ("server", "op")),
                         ("rpc_op_phase_duration_seconds_count", ("server", "op", "phase")),
                         ("rpc_op_duration_seconds_bucket", ("server", "op", "le")),
                         ("rpc_errors_total", ("server", "op", "status")),
                         ("rpc_retransmits_total", ("server",)),
                         ("rpc_queue_depth_count", ("server", "queue"))):
        one, other = (of_the_load(merged(metrics, name, *labels)) for metrics in (a, b))
        if name == "rpc_queue_depth_count":
            one = {key: value for key, value in one.items() if key in other}
        need(one == other, name, "differs:", sorted(
            (k, one.get(k), other.get(k)) for k in set(one) | set(other) if one.get(k) != other.get(k)))
    worst = {}
    seconds = [of_the_load(merged(metrics, "rpc_op_phase_seconds_total", "op", "phase")) for metrics in (a, b)]
    for phase in a.values("rpc_op_phase_seconds_total", "phase"):
        one, other = (sum(value for key, value in each.items() if key[1] == phase) for each in seconds)
        worst[phase] = abs(one - other) / one if one else Decimal(0)
        # When a task falls asleep or wakes, the second program runs after the first, here some microseconds later. That
        # shows in short times: in a wait that the kernel's own time stamp ends, and in the rest, `setup`.
        total = a.get("rpc_op_seconds_total")
        need(abs(one - other) <= (total if phase in ("send", "setup") else max(one, total / 10)) / 1000,
             phase, "sums differ:", one, "and", other)
    for limit in ("slot", "session"):
        one, other = (m.get("rpc_saturated_seconds_total", limit=limit) for m in (a, b))
        need(abs(one - other) <= max(one, 1) / 100, limit, "saturated", one, "and", other)
    text = ", ".join(f"{phase} {float(value):.5%}" for phase, value in sorted(worst.items()) if value)
    return f"{a.get('rpc_op_calls_total')} calls; phase sums differ by {text}"
