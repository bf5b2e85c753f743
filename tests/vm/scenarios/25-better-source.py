# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.checks import check_additive, check_no_drops
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


def replaced(folder, name, first, then):
    """Source @then has replaced @first under load, and has counted from 0 on."""
    own = folder / name
    load, middle = (Metrics(own / f"{point}.prom") for point in ("load", "middle"))
    need(source(load, first) and source(middle, then), name, "is not first in", first, "then in", then)
    check_no_drops(middle)
    before, counted = (metrics.get("rpc_op_calls_total", op="READ") for metrics in (load, middle))
    reads = mountstats_all(own / "middle.mountstats")["READ"]["ops"]
    need(before > 500 and 0 < counted <= reads - before, name, counted, "READs after", before, "of", reads)
    after = compare_with_mountstats(own, "middle", "after", mountstats_all)
    need(after.get("rpc_op_calls_total") > 16, "too few calls")
    check_additive(Metrics(own / "after.prom"))
    # One message for each source that failed, whatever was tried again, and for a hook that was left out first.
    logged = complaints(own)
    need(all("cannot use source" in text or "is not observed" in text for text in logged), name, "logged:", logged)
    need(len(logged) <= 3, name, "logged:", logged)
    return f"{name}: {counted} of {reads} READs"


@judgement
def tracepoints_replaces_mountstats_under_load_and_begins_at_0(folder):
    return "; ".join(replaced(folder, name, "mountstats", "tracepoints")
                     for name in (folder / "polled").read_text().split())


@judgement
def btf_replaces_what_is_less_under_load_and_begins_at_0(folder):
    names = (folder / "names-typed").read_text().split()
    if not names:
        raise Skip("this kernel has no types of sunrpc")
    return "; ".join(replaced(folder, name, "mountstats" if name == "jumped" else "tracepoints", "btf")
                     for name in names)
