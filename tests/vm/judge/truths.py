# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the agent's files with independent sources: the kernel's mountstats, fio's report."""
from judge import need
from judge.checks import check_additive, check_histograms, check_no_drops, dominant, preemptible, shares
from judge.reading import Metrics, difference, mountstats, runtime


ABSENT_WITH_TRACEPOINTS = ("rpc_timeouts_total", "rpc_connects_total", "rpc_replies_total", "rpc_rtt_seconds_total")


def has_all_families(metrics):
    """Whether the source measures all families; what tracepoints cannot measure must be absent."""
    if metrics.get("rpc_source", source="btf") or metrics.get("rpc_source", source="mountstats"):
        return True
    need(metrics.get("rpc_source", source="tracepoints") == 1, "neither source btf nor tracepoints")
    for name in ABSENT_WITH_TRACEPOINTS:
        need(not metrics.each(name), name, "is there in source tracepoints")
    need(metrics.values("rpc_queue_depth_count", "queue") <= {"slot", "session", "send"},
         "depths of more queues than source tracepoints has")
    return False


def compare_with_mountstats(folder, before, after, read=mountstats, additive=True, histograms=True):
    """Counts, bytes, errors, retransmits equal to the last; times within the
    millisecond to which each of the two mountstats is cut for each mount (and
    a thousandth where programs can be preempted)."""
    last = Metrics(folder / f"{after}.prom")
    ours = difference(Metrics(folder / f"{before}.prom"), last)
    typed = has_all_families(last)
    old = read(folder / f"{before}.mountstats")
    new = read(folder / f"{after}.mountstats")
    text = (folder / f"{after}.mountstats").read_text(errors="surrogateescape")
    cut = 2 * max(1, text.count(" statvers="))
    calls = 0
    for op, fields in new.items():
        theirs = {name: value - old[op][name] for name, value in fields.items()}
        pairs = (
            ("ops", ours.get("rpc_op_calls_total", op=op)),
            ("sent", ours.get("rpc_op_sent_bytes_total", op=op)),
            ("received", ours.get("rpc_op_received_bytes_total", op=op)),
            ("errors", ours.get("rpc_errors_total", op=op)),
        )
        for name, value in pairs:
            need(theirs.get(name, 0) == value,
                 op, name, ": mountstats has", theirs.get(name), "and we", value)
        seconds = ours.get("rpc_op_seconds_total", op=op)
        # Where programs can be preempted, a call may be recorded at its release only, some milliseconds late.
        spare = cut + theirs["execute_ms"] / 1000 if preemptible(last) else cut
        need(abs(seconds * 1000 - theirs["execute_ms"]) <= spare,
             op, "took", seconds, "s, by mountstats", theirs["execute_ms"], "ms")
        calls += theirs["ops"]
    need(calls == ours.get("rpc_op_calls_total"), "we have ops that mountstats has not")
    retransmits = sum(f["ntrans"] - old[op]["ntrans"] - f["ops"] + old[op]["ops"]
                      for op, f in new.items())
    need(retransmits == ours.get("rpc_retransmits_total"), "retransmits:",
         retransmits, "and", ours.get("rpc_retransmits_total"))
    timeouts = sum(f["timeouts"] - old[op]["timeouts"] for op, f in new.items())
    need(not typed or timeouts == ours.get("rpc_timeouts_total"), "timeouts differ")
    if histograms:
        check_histograms(ours)
    if additive:
        check_additive(ours)
    return ours


def compare_rtt(folder, before, after, ours, read=mountstats, mounts=1):
    """The phase rtt, of calls that have all been answered, equal to within the milliseconds of mountstats. Where the
    layout of the kernel's structs is mistaken, times are the first to show it."""
    old, new = (read(folder / f"{point}.mountstats") for point in (before, after))
    for op, fields in new.items():
        seconds = ours.get("rpc_op_phase_seconds_total", op=op, phase="rtt")
        theirs = fields["rtt_ms"] - old[op]["rtt_ms"]
        need(abs(seconds * 1000 - theirs) <= 2 * mounts,
             op, "waited", seconds, "s for replies, by mountstats", theirs, "ms")


def saturates(folder, limit, few, many, waiting, spare=0, more=0):
    """@waiting requests wait, or fewer by as much as @spare, or more by as much as @more."""
    ours = compare_with_mountstats(folder, f"{few}-before", f"{few}-after")
    seconds = runtime(folder / f"{few}.json")
    saturated = float(ours.get("rpc_saturated_seconds_total", limit=limit))
    need(dominant(ours) == limit, "dominant is", dominant(ours), shares(ours))
    # At the beginning and the end of the load fewer requests are in flight; on a busy machine that takes longer.
    need(0.9 < saturated / seconds < 1.02, saturated, "s saturated of", seconds)
    depth = ours.get("rpc_queue_depth_sum", queue=limit) / \
        ours.get("rpc_queue_depth_count", queue=limit)
    # fio submits requests in batches, as replies come in batches.
    need((waiting - spare) / 2 <= depth <= waiting + more, "mean depth", depth, "not near", waiting)
    most = Metrics(folder / f"{few}-after.prom").get("rpc_queue_depth_max", queue=limit)
    need(waiting - spare - 2 <= most <= waiting + more, "greatest depth", most, "not", waiting)
    compare_rtt(folder, f"{few}-before", f"{few}-after", ours)
    ours = compare_with_mountstats(folder, f"{many}-before", f"{many}-after")
    need(ours.get("rpc_saturated_seconds_total", limit=limit) == 0, "saturated with", many)
    need(ours.get("rpc_phase_seconds_total", phase=limit) == 0, "waited with", many)
    return f"{saturated:.2f} s of {seconds:.2f} s, depth {depth:.1f}"


def waits_for_server(folder):
    ages = []
    for i in range(1, 13):
        metrics = Metrics(folder / f"stopped-{i}.prom")
        ages.append(float(max(metrics.each("rpc_oldest_waiter_seconds").values())))
    need(max(ages) > 9, "the oldest waiter was", ages, "s old")
    need(all(a <= b for a, b in zip(ages[3:], ages[4:])), "its age does not rise:", ages)
    ours = compare_with_mountstats(folder, "before", "after")
    check_no_drops(Metrics(folder / "after.prom"))
    end = Metrics(folder / "after.prom").each("rpc_oldest_waiter_seconds")
    need(max(end.values()) == 0, "a task still waits:", end)
    # The calls in flight when the server stopped took as long as that.
    slow = ours.get("rpc_op_calls_total") - ours.get("rpc_seconds_bucket", le="4.294967296")
    need(slow >= 1, "no call took as long as the server was stopped")
    return f"oldest waiter {max(ages):.1f} s, {slow} calls over 4.3 s, " \
           f"{ours.get('rpc_retransmits_total')} sent again"
