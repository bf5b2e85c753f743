# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, complaints, read_json
from judge.truths import compare_with_mountstats


def refused(folder, source, *expected):
    """An agent uses @source, agrees with mountstats, and has logged what is missing in one message each: the
    feature and what to do, then libbpf's message below."""
    after = Metrics(folder / "after.prom")
    need(after.get("rpc_source", source=source) == 1, "not in source", source)
    compare_with_mountstats(folder, "before", "after", additive=source != "mountstats")
    logged = complaints(folder)
    # A call's end has a second program where programs can be preempted.
    need(len(expected) <= len(logged) <= len(expected) + 1, len(logged), "messages:", logged)
    for text in logged:
        fits = [(feature, words) for feature, words in expected if feature in text.split("\n")[0]]
        need(fits and all(words in text for _, words in fits), "unexpected:", text)
        need(len(text) < 2500, "long:", text)
        need("\n" not in text or "; please report" in text.split("\n")[0], "no advice:", text)
    for feature, _ in expected:
        need(any(feature in text for text in logged), "nothing about", feature, "in", logged)
    return after


# What an agent logs: the feature, and libbpf's words below it.
def unobserved(tracepoint, reason="the kernel refuses its program"):
    return f"tracepoint {tracepoint} is not observed: {reason}"


def relocation(text):
    return f"{text}, or one of another type", "failed to resolve CO-RE relocation <byte_off>"


def passed_by_the_verifier(text):
    """What a security module refuses that the verifier has passed."""
    return (f"{text}: the kernel's verifier accepts the program, but something else in the kernel refuses it, such as "
            "a security module", "Permission denied")


NO_DISCONNECTS = (f"{unobserved('xprt_disconnect_done')}: this kernel's types have no tracepoint xprt_disconnect_done",
                  "failed to find kernel BTF type ID of 'xprt_disconnect_done'")
NO_BYTES = relocation("in this kernel's types, struct rpc_rqst has no member rq_xmit_bytes_sent")
NO_XPRT = "in this kernel's types, struct rpc_task has no member tk_xprt"
NO_BTF = relocation(f"cannot use source btf: {NO_XPRT}")
NO_SLEEP, NO_WAKEUP = (relocation(f"{unobserved(name)}: {NO_XPRT}") for name in ("rpc_task_sleep", "rpc_task_wakeup"))
NO_TRACEPOINTS = "cannot use source tracepoints"
NO_EXECUTE = f"{NO_TRACEPOINTS}: tracepoint rpc_stats_latency: its field execute is missing or has another form", ""
NO_PAIR = unobserved("rpc_task_sleep", "it needs rpc_task_wakeup, which is missing"), ""


def without_disconnects(folder, source, expected):
    after = refused(folder, source, expected)
    hooks = {dict(labels)["hook"]: value for labels, value in after.each("hook_attached").items()}
    need(hooks.pop("xprt_disconnect_done") == 0 and set(hooks.values()) == {1}, hooks)
    need(not after.each("rpc_disconnects_total"), "disconnects are reported")
    need(after.each("rpc_saturated_seconds_total"), "saturation is missing")


@judgement
def a_refused_hook_of_little_weight_is_left_out(folder):
    without_disconnects(folder / "disconnects", "btf", NO_DISCONNECTS)


@judgement
def without_waits_source_btf_is_better_than_mountstats(folder):
    after = refused(folder / "waits-tracefs", "btf", NO_SLEEP, NO_WAKEUP, NO_DISCONNECTS)
    need(after.get("hook_attached", hook="rpc_stats_latency") == 1, "calls are not recorded")
    need(after.get("hook_attached", hook="rpc_task_sleep") == 0, "hooked all the same")
    need(not after.each("rpc_saturated_seconds_total"), "saturation is reported")
    for family in ("rpc_oldest_waiter_seconds", "rpc_queue_depth_count", "rpc_queue_depth_max"):
        need(not after.values(family, "queue") & {"slot", "session", "send"}, family, "is reported")


def refused_event(event):
    return passed_by_the_verifier(unobserved(event))


@judgement
def a_refused_event_of_little_weight_is_left_out(folder):
    without_disconnects(folder / "event-disconnects", "tracepoints", refused_event("xprt_disconnect_done"))


@judgement
def without_wakeups_source_tracepoints_has_no_waits(folder):
    after = refused(folder / "event-waits", "tracepoints", refused_event("rpc_task_wakeup"), NO_PAIR)
    need(not after.each("rpc_saturated_seconds_total"), "saturation is reported")
    need("slot" not in after.values("rpc_queue_depth_count", "queue"), "depths are reported")


def falls_back(title, name, source, *expected):
    @judgement
    def check(folder):
        refused(folder / name, source, *expected)
    check.__name__ = title


falls_back("without calls and events source mountstats is left", "bytes-event", "mountstats",
           NO_BYTES, NO_EXECUTE)
falls_back("without waits source tracepoints is better than btf", "waits", "tracepoints",
           NO_BTF)
falls_back("without the ends of transports source tracepoints is used", "destroy", "tracepoints",
           NO_DISCONNECTS, passed_by_the_verifier("cannot use source btf"))
falls_back("without new clients source mountstats is left", "event-clients", "mountstats",
           NO_BYTES, passed_by_the_verifier(NO_TRACEPOINTS))
falls_back("without calls in source tracepoints source mountstats is left", "event-calls", "mountstats",
           NO_BYTES, passed_by_the_verifier(NO_TRACEPOINTS))


@judgement
def doctor_reports_that_the_kernel_may_refuse(folder):
    doctor = read_json(folder / "doctor.json")
    need(doctor["source"] == "btf", doctor["source"])
    need("if the kernel accepts the programs" in doctor["source_text"], doctor["source_text"])
