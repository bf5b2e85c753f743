# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops, preemptible
from judge.reading import Metrics
from judge.truths import compare_with_mountstats


@judgement
def sums_and_counts_by_op_are_the_same_at_both_levels(folder):
    ours = {level: compare_with_mountstats(folder / level, "before", "after") for level in ("node", "op")}
    node, after = ours["node"], {level: Metrics(folder / level / "after.prom") for level in ours}
    # Whether a burst of reads or writes is an episode depends on when each agent looks.
    families = {level: {key[0] for key in metrics.samples if "checkpoint_episode" not in key[0]}
                for level, metrics in after.items()}
    only_op = {f"xidscope_rpc_op_{part}_seconds_{suffix}" for part in ("duration", "phase_duration")
               for suffix in ("bucket", "count", "sum")}
    need(families["op"] - families["node"] == only_op, families["op"] ^ families["node"], "are at one level only")
    need(node.values("rpc_op_calls_total", "op") >= {"READ", "WRITE", "LOOKUP", "RMDIR"}, "few ops")
    need(node.values("rpc_seconds_count", "kind") == {"read", "write", "metadata"}, "kinds")
    for metrics in after.values():
        check_no_drops(metrics)
    names = ["rpc_op_calls_total", "rpc_sent_bytes_total", "rpc_received_bytes_total", "rpc_errors_total"]
    # Where programs can be preempted, a call may be recorded some milliseconds later by one than by the other.
    if not preemptible(after["node"]):
        names += ["rpc_op_seconds_total", "rpc_seconds_count", "rpc_seconds_bucket"]
    for name in names:
        one, other = (metrics.each(name) for metrics in ours.values())
        need(one == other, name, "differs:", sorted(set(one.items()) ^ set(other.items())))
    # A wait differs by what the programs of one agent delay those of the other.
    for phase in node.values("rpc_op_phase_seconds_total", "phase"):
        one, other = (metrics.get("rpc_op_phase_seconds_total", phase=phase) for metrics in ours.values())
        need(abs(one - other) <= node.get("rpc_op_seconds_total") / 1000, phase, "sums differ:", one, "and", other)
    return f"{node.get('rpc_op_calls_total')} calls; " + ", ".join(
        f"{len(metrics.samples)} samples with --detail {level}" for level, metrics in after.items())
