# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, mountstats, read_json, session_verdict
from judge.truths import waits_for_server


@judgement
def a_silent_server_shows_and_nothing_is_lost(folder):
    return waits_for_server(folder)


@judgement
def a_session_tells_of_a_stall_that_ended(folder):
    session = read_json(folder / "stall.json")
    [verdict] = [s["verdict"] for s in session["servers"] if s["name"].startswith("10.0.4.1")]
    first = session["headline"]
    need(first.startswith("10.0.4.1") and " did not answer for " in first, first)
    # 12 s of silence; TCP doubles the time between its attempts, so the first that arrives may come after twice as long
    need(10 < verdict["numbers"]["stall_seconds"] < 26, verdict["numbers"])
    need(verdict["numbers"]["shares"]["resend"] < 0.1, verdict["numbers"])
    return first


@judgement
def calls_that_hang_since_before_the_agent_show(folder):
    hung, answered = (Metrics(folder / "late" / f"{point}.prom") for point in ("hung", "answered"))
    server = {"server": "127.0.0.1"}
    need(not hung.each("rpc_op_calls_total", **server), "a call has ended")
    need(hung.get("rpc_slots", kind="in_flight", **server) >= 1, "no call in flight:", hung.each("rpc_slots"))
    infos = map(dict, hung.each("rpc_transport_info", **server))
    shown = [labels for labels in infos if labels["remote"] == "127.0.0.1:2049"]
    need(len(shown) == hung.get("rpc_source", source="btf"), "connections:", shown)
    need(answered.get("rpc_slots", kind="in_flight", **server) == 0, "still in flight")
    booked = mountstats(folder / "late" / "answered.mountstats")
    for op in ("READ", "READ_PLUS"):  # the latter from 6.12 on; twice where the session has ended meanwhile
        ours, kernels = answered.get("rpc_op_calls_total", op=op, **server), booked.get(op, {}).get("ops", 0)
        need(ours == kernels, ours, op, "and the kernel has", kernels)
    need(set(hung.each("rpc_slots", **server)) <= set(answered.each("rpc_slots", **server)), "another transport")
    return f"{len(shown)} connections, {hung.get('rpc_slots', kind='in_flight', **server)} in flight"


@judgement
def sessions_that_begin_during_a_hang_say_so(folder):
    said = []
    for source in ("btf", "tracepoints"):
        for seconds in (2, 7):
            text = (folder / f"late-{source}-{seconds}.txt").read_text()
            servers = read_json(folder / f"late-{source}-{seconds}.json")["servers"]
            for name in ("127.0.0.1", "10.0.4.1"):
                [verdict] = [s["verdict"] for s in servers if s["name"].split("@")[0] == name]
                hung = verdict["bound_by"] == "hung" and verdict["numbers"]["oldest_seconds"] >= 5
                need(hung or (seconds == 2 and "No call ended; the oldest" in verdict["sentence"]), verdict, text)
                need(verdict["confidence"] == "high" or seconds == 2, verdict)
            said.append(verdict["sentence"])
    # that in another network namespace, by the source that knows its age
    servers = read_json(folder / "late-btf-7.json")["servers"]
    verdict = next(s["verdict"] for s in servers if s["name"].startswith("10.0.4.1"))
    age = int((folder / "far.us").read_text()) / 1e6
    need(7 + 8 < verdict["numbers"]["oldest_seconds"] <= age, age, verdict)
    return " ".join(said)


@judgement
def after_six_seconds_a_session_says_that_a_server_hangs(folder):
    """And for how long: source tracepoints knows no age from before its start."""
    told = []
    for age in (folder / "ages").read_text().split():
        longest = int((folder / f"since-{age}.us").read_text()) / 1e6
        for source, least in ("btf", int(age) + 5), ("tracepoints", 5):
            verdict = session_verdict(folder / f"since-{source}-{age}.json", "10.0.4.1")
            oldest = verdict["numbers"]["oldest_seconds"]
            need(verdict["bound_by"] == "hung" and verdict["confidence"] == "high", source, age, verdict)
            need(least <= oldest <= longest, source, age, longest, verdict)
            told.append(f"{source}, {age} s before: {oldest:.1f} s")
    return "; ".join(told)


@judgement
def the_first_call_may_hang(folder):
    hung = Metrics(folder / "idle" / "hung.prom")
    ages = {dict(labels)["server"]: float(age)
            for labels, age in hung.each("rpc_oldest_waiter_seconds", queue="pending").items()}
    server = next((s for s in ages if s.split("@")[0] == "10.0.5.1"), None)
    need(server, "not known:", ages)
    need(not hung.each("rpc_op_calls_total", server=server), "a call has ended")
    need(4 < ages[server] < 60, "oldest:", ages)
    return f"{ages[server]:.1f} s old"
