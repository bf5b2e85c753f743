# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.checks import check_additive
from judge.reading import Metrics, complaints, mountstats_all
from judge.truths import compare_with_mountstats


def source(metrics, name):
    return metrics.get("rpc_source", source=name) == 1


@judgement
def sunrpc_is_observed_once_tracefs_is_there(folder):
    folder /= "absent"
    need(not Metrics(folder / "before.prom").each("rpc_op_calls_total"), "calls are counted without a source")
    ours = compare_with_mountstats(folder, "middle", "after", mountstats_all)
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
        # mountstats has no phases but one: the others begin with all calls so far.
        across = compare_with_mountstats(own, "before", "after", mountstats_all, additive=False, histograms=False)
        after = compare_with_mountstats(own, "middle", "after", mountstats_all)
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
def btf_replaces_what_is_less_between_calls_and_loses_and_doubles_none(folder):
    names = (folder / "names-typed").read_text().split()
    if not names:
        raise Skip("this kernel has no types of sunrpc")
    done = []
    for name in names:
        own = folder / name
        before, middle, after = (Metrics(own / f"{point}.prom") for point in ("before", "middle", "after"))
        first = "mountstats" if name == "jumped" else "tracepoints"
        need(source(before, first) and source(middle, "btf"), name, "is not first in", first, "then in btf")
        all_phases = name == "typed"
        across = compare_with_mountstats(own, "before", "after", mountstats_all, all_phases, all_phases)
        compare_with_mountstats(own, "middle", "after", mountstats_all)
        check_additive(after)
        for family in ("rpc_op_calls_total", "rpc_op_seconds_total", "rpc_sent_bytes_total", "rpc_connects_total",
                       "rpc_retransmits_total", "rpc_errors_total", "rpc_saturated_seconds_total"):
            for labels, value in before.each(family).items():
                need(after.each(family, **dict(labels)).get(labels, 0) >= value, name, family, labels, "fell")
        # One mount has connected before the agents came, the other one after that; none has lost its connection.
        for server, connected in (("127.0.0.2", False), ("127.0.0.1", name == "jumped")):
            counted = [m.get("rpc_connects_total", server=server) for m in (before, middle, after)]
            need(len(set(counted)) == 1 and (counted[0] > 0) == connected,
                 name, server, "has connected", counted, "times")
            need(after.each("rpc_connects_total", server=server, transport="tcp/0"), name, server, "is not seen by btf")
        logged = complaints(own)
        need(all("cannot use source" in text or "is not observed" in text for text in logged), name, "logged:", logged)
        need(len(logged) <= 2, name, "logged:", logged)
        done.append(f"{name}: {across.get('rpc_op_calls_total')} calls")
    return "; ".join(done)
