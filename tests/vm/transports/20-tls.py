# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops, transports
from judge.reading import Metrics, mountstats
from judge.truths import compare_with_mountstats


@judgement
def tls_counts_equal_mountstats(folder):
    ours = compare_with_mountstats(folder, "before", "after")
    check_no_drops(Metrics(folder / "after.prom"))
    need(set(transports(folder, "after")) == {"tls/0"}, transports(folder, "after"))
    # The connection began with a call without TLS: mountstats does not show it.
    calls = int(Metrics(folder / "before.prom").get("rpc_op_calls_total", op="NULL"))
    theirs = mountstats(folder / "before.mountstats")["NULL"]["ops"]
    need(calls == theirs + 1, calls, "NULL calls, by mountstats", theirs)
    return f"{ours.get('rpc_op_calls_total')} calls"
