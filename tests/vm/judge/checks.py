# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that many judgements share, of the agent's files alone."""
from judge import need
from judge.reading import Metrics


def merged(metrics, name, *labels):
    """Sums of a family's samples by some of its labels; a server's name without its network namespace, which source
    tracepoints does not have."""
    sums = {}
    for key, value in metrics.each(name).items():
        key = dict(key)
        key = tuple(key[label].split("@")[0] for label in labels)
        sums[key] = sums.get(key, 0) + value
    return sums


KINDS = {"READ": "read", "READ_PLUS": "read", "WRITE": "write", "COMMIT": "write"}


def by_kind(metrics, name, *labels):
    """As merged() by server, kind and labels, of a family by op."""
    sums = {}
    for (server, op, *rest), value in merged(metrics, name, "server", "op", *labels).items():
        key = server, KINDS.get(op, "metadata"), *rest
        sums[key] = sums.get(key, 0) + value
    return sums


def check_same(metrics, one, other, *labels):
    a, b = (merged(metrics, name, *labels) for name in (one, other))
    need(a == b, one, "is not", other, ":", sorted(set(a.items()) ^ set(b.items())))


def check_histograms(metrics):
    """Histograms by kind have the calls and the time of the ops; those by op, where they are shown, have the calls,
    the time and, at the bounds of the others, the distribution."""
    for one, other in (("rpc_seconds_count", "rpc_op_calls_total"), ("rpc_seconds_sum", "rpc_op_seconds_total")):
        a, b = merged(metrics, one, "server", "kind"), by_kind(metrics, other)
        need(a == b, one, "is not", other, ":", sorted(set(a.items()) ^ set(b.items())))
    if not metrics.each("rpc_op_duration_seconds_count"):
        return
    check_same(metrics, "rpc_op_duration_seconds_count", "rpc_op_calls_total", "server", "op")
    check_same(metrics, "rpc_op_duration_seconds_sum", "rpc_op_seconds_total", "server", "op")
    check_same(metrics, "rpc_op_phase_duration_seconds_sum", "rpc_op_phase_seconds_total", "server", "op", "phase")
    check_same(metrics, "rpc_phase_seconds_total", "rpc_op_phase_seconds_total", "server", "phase")
    for name in "sent_bytes", "received_bytes":
        a, b = merged(metrics, f"rpc_{name}_total", "server", "kind"), by_kind(metrics, f"rpc_op_{name}_total")
        need(a == b, name, ":", sorted(set(a.items()) ^ set(b.items())))
    fine = by_kind(metrics, "rpc_op_duration_seconds_bucket", "le")
    for key, count in merged(metrics, "rpc_seconds_bucket", "server", "kind", "le").items():
        need(count == fine[key], key, "has", count, "calls, by op", fine[key])


def check_additive(metrics):
    """Phases add up to totals to the nanosecond."""
    phases = merged(metrics, "rpc_phase_seconds_total", "server", "phase")
    for (server,), total in merged(metrics, "rpc_seconds_sum", "server").items():
        found = [value for (of, _), value in phases.items() if of == server]
        need(len(found) == 8, server, "has", len(found), "phases")
        need(sum(found) == total, server, "phases add up to", sum(found), "not", total)
    by_op = metrics.each("rpc_op_phase_seconds_total")  # only with --detail op
    for labels, total in metrics.each("rpc_op_seconds_total").items() if by_op else ():
        phases = metrics.each("rpc_op_phase_seconds_total", **dict(labels))
        need(len(phases) == 8, dict(labels), "has", len(phases), "phases")
        need(sum(phases.values()) == total, dict(labels), "phases add up to",
             sum(phases.values()), "not", total)


def check_replies(metrics):
    """The transports' replies are those to all calls, and their times are the phase rtt, to the nanosecond."""
    for name, calls in (("rpc_replies_total", metrics.get("rpc_op_calls_total")),
                        ("rpc_rtt_seconds_total", metrics.get("rpc_phase_seconds_total", phase="rtt"))):
        need(metrics.get(name) == calls, name, metrics.get(name), "and the calls have", calls)


def preemptible(metrics):
    """Whether programs can be preempted: source btf has hooks for that."""
    return metrics.get("hook_attached", hook="xprt_release_xprt")


def lost_by_preemption(metrics):
    """Events that a 7.x kernel did not pass to a preempted program: two disconnects at once. No call is lost."""
    lost = metrics.get("events_dropped_total", reason="rpc_recursion")
    need(lost <= 3, lost, "events lost by preemption")
    return lost


def check_no_drops(metrics, preempted=None):
    for labels, count in metrics.each("events_dropped_total").items():
        if dict(labels)["reason"] == "rpc_recursion" and (preempted or preemptible(metrics)):
            count -= lost_by_preemption(metrics)
        # A call may end after its process, which is no loss.
        need(count == 0 or dict(labels)["reason"] == "rpc_owner_gone", count, "events dropped:", dict(labels))


def shares(metrics):
    total = metrics.get("rpc_op_seconds_total")
    return {phase: metrics.get("rpc_phase_seconds_total", phase=phase) / total
            for phase in metrics.values("rpc_phase_seconds_total", "phase")}


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


def authority(metrics):
    """Who says that a fault happened."""
    (name,) = (dict(k)["authority"] for k, v in metrics.each("gpu_fault_authority").items() if v)
    return name


def knows_callers(folder):
    """From 5.19 on the printk hook runs in the printing task; before that by a console, and the text alone decides."""
    major, minor = (folder.parent / "release").read_text().split(".")[:2]
    return (int(major), int(minor)) >= (5, 19)
