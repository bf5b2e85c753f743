# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops, preemptible
from judge.reading import Metrics, complaints, mountstats_all
from judge.truths import compare_with_mountstats


@judgement
def source_btf_takes_over_when_the_types_come(folder):
    before, middle, after = (Metrics(folder / f"{point}.prom") for point in ("before", "middle", "after"))
    need(before.get("rpc_source", source="tracepoints") == 1, "not first in source tracepoints")
    need(middle.get("rpc_source", source="btf") == 1, "not then in source btf")
    ours = compare_with_mountstats(folder, "middle", "after", mountstats_all)
    if not preemptible(after):
        check_no_drops(ours)
    need(before.get("rpc_op_calls_total") > 0 < ours.get("rpc_op_calls_total"), "no calls")
    need(after.each("rpc_connects_total", transport="tcp/0"), "btf does not see the connection")
    written = [metrics.get("rpc_op_calls_total", op="WRITE") for metrics in (before, middle)]
    need(written[0] > 0 == written[1], "WRITEs by one source, and by the next, which has seen none:", written)
    # It may also have looked at a file that was still being written.
    logged = complaints(folder)
    refused = [text for text in logged if text.startswith("the file of types ") and " is refused: " in text]
    need(refused and "another build" in refused[-1] and len(refused) <= 2, "logged:", logged)
    need(not any("cannot use source" in text for text in logged), "logged:", logged)
    return f"{ours.get('rpc_op_calls_total')} calls"
