# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that many judgements share, of the agent's files alone."""
from judge import need
from judge.reading import Metrics


def check_additive(metrics):
    """Phases add up to totals to the nanosecond, and count every call."""
    for labels, total in metrics.each("rpc_seconds_sum").items():
        phases = metrics.each("rpc_phase_seconds_sum", **dict(labels))
        need(len(phases) == 8, dict(labels), "has", len(phases), "phases")
        need(sum(phases.values()) == total, dict(labels), "phases add up to",
             sum(phases.values()), "not", total)
    for labels, count in metrics.each("rpc_seconds_count").items():
        for other in metrics.each("rpc_phase_seconds_count", **dict(labels)).values():
            need(other == count, dict(labels), "a phase counts", other, "of", count)


def preemptible(metrics):
    """Whether programs can be preempted: source btf has hooks for that."""
    return metrics.get("hook_attached", hook="xprt_release_xprt")


def lost_by_preemption(metrics):
    """Events that a 7.x kernel did not pass to a preempted program: counted, and no call was lost by it."""
    lost = metrics.get("events_dropped_total", reason="rpc_recursion")
    need(lost <= max(3, metrics.get("rpc_seconds_count") / 500), lost, "events lost by preemption")
    return lost


def check_no_drops(metrics, preempted=None):
    for labels, count in metrics.each("events_dropped_total").items():
        # Where programs can be preempted, two disconnects at once are one too many.
        if dict(labels)["reason"] == "rpc_recursion" and (preempted or preemptible(metrics)):
            count -= lost_by_preemption(metrics)
        need(count == 0, count, "events dropped:", dict(labels))


def shares(metrics):
    total = metrics.get("rpc_seconds_sum")
    return {phase: metrics.get("rpc_phase_seconds_sum", phase=phase) / total
            for phase in metrics.values("rpc_phase_seconds_sum", "phase")}


def dominant(metrics):
    parts = shares(metrics)
    return max(parts, key=parts.get)


def transports(folder, point, kind="max"):
    """The transports in use then, and their slots."""
    slots = Metrics(folder / f"{point}.prom").each("rpc_slots", kind=kind)
    return {dict(labels)["transport"]: int(value) for labels, value in slots.items()}


def counts(metrics):
    """Faults by device and number."""
    result = {}
    for name, device, code in (("gpu_xid_errors_total", "gpu", "xid"),
                               ("nvswitch_sxid_errors_total", "device", "sxid")):
        for labels, value in metrics.each(name).items():
            labels = dict(labels)
            key = (labels[device], int(labels[code]))
            if value:
                result[key] = result.get(key, 0) + int(value)
    return result
