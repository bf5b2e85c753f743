# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_additive
from judge.reading import Metrics, difference, events, mountstats
from judge.truths import compare_with_mountstats


def source(metrics, name):
    return metrics.get("rpc_source", source=name) == 1


def complaints(folder):
    return [event["message"] for event in events(folder / "agent.log") if event["level"] in ("warning", "error")]


@judgement
def sunrpc_is_observed_once_tracefs_is_there(folder):
    folder /= "absent"
    need(not Metrics(folder / "before.prom").each("rpc_op_calls_total"), "calls are counted without a source")
    ours = compare_with_mountstats(folder, "middle", "after")
    need(source(Metrics(folder / "after.prom"), "tracepoints"), "not in source tracepoints")
    logged = complaints(folder)
    need(len(logged) == 1 and "NFS is not observed" in logged[0], "not one message:", logged)
    return f"{ours.get('rpc_op_calls_total')} calls"


@judgement
def tracepoints_replaces_mountstats_between_calls_and_loses_and_doubles_none(folder):
    done = []
    for name in (folder / "polled").read_text().split():
        own = folder / name
        before, load, middle = (Metrics(own / f"{point}.prom") for point in ("before", "load", "middle"))
        need(source(before, "mountstats") and source(load, "mountstats"), name, "has replaced it under load")
        need(source(middle, "tracepoints"), name, "is not in source tracepoints")
        # mountstats has no phases but one.
        across = compare_with_mountstats(own, "before", "after", additive=False)
        after = compare_with_mountstats(own, "middle", "after")
        check_additive(Metrics(own / "after.prom"))
        need(across.get("rpc_op_calls_total") > 1000 > after.get("rpc_op_calls_total") > 16,
             "too few or too many calls")
        for family in ("rpc_op_calls_total", "rpc_op_seconds_total", "rpc_retransmits_total", "rpc_errors_total"):
            for labels, value in load.each(family).items():
                need(middle.each(family, **dict(labels)).get(labels, 0) >= value, name, family, labels, "fell")
        # One message for each source that failed, whatever was tried again, and for a hook that was left out first.
        logged = complaints(own)
        need(all("cannot use source" in text or "is not observed" in text for text in logged), name, "logged:", logged)
        need(len(logged) <= 3, name, "logged:", logged)
        done.append(f"{name}: {across.get('rpc_op_calls_total')} calls")
    return "; ".join(done)


@judgement
def btf_replaces_tracepoints_between_calls_and_loses_and_doubles_none(folder):
    if not (folder / "typed.names").read_text().strip():
        return "this kernel has no types of sunrpc"
    folder /= "typed"
    before, middle = (Metrics(folder / f"{point}.prom") for point in ("before", "middle"))
    need(source(before, "tracepoints") and source(middle, "btf"), "not first in tracepoints, then in btf")
    ours = compare_with_mountstats(folder, "middle", "after")
    check_additive(Metrics(folder / "after.prom"))
    old, new = (mountstats(folder / f"{point}.mountstats") for point in ("before", "middle"))
    across = difference(before, middle)
    for op, fields in new.items():
        need(across.get("rpc_op_calls_total", op=op) == fields["ops"] - old[op]["ops"], op, "differs across the change")
    logged = complaints(folder)
    need(logged and all("cannot use source btf" in text for text in logged), "logged:", logged)
    return f"{across.get('rpc_op_calls_total')} calls across the change, {ours.get('rpc_op_calls_total')} after it"
