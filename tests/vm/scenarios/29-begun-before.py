# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import session_verdict


def verdict_of(folder, name):
    return session_verdict(folder / f"{name}.json")


def judge(folder, name, bound):
    told = []
    for source in ("btf", "tracepoints"):
        for seconds in (2, 10):
            verdict = verdict_of(folder, f"{name}-{source}-{seconds}")
            told.append(f"{source} {seconds} s: {verdict['bound_by']}, {verdict['confidence']}, "
                        f"earlier {verdict['numbers']['earlier_share']:.2f}")
            right = verdict["bound_by"] == bound
            doubtful = seconds < 10 and (verdict["bound_by"] == "none" or verdict["confidence"] == "low")
            need(right or doubtful, name, "\n".join(told), verdict["sentence"])
            report = (folder / f"{name}-{source}-{seconds}.txt").read_text()
            need("Calls began before the session: " in report, name, report)
    return "; ".join(told)


@judgement
def waits_for_slots_that_began_before_are_slots(folder):
    return judge(folder, "slot", "slot")


@judgement
def waits_for_session_slots_that_began_before_are_session_slots(folder):
    if verdict_of(folder, "session-btf-10")["numbers"]["in_flight"] > 60:
        raise Skip("the server has raised the session's slots to what the load wants")
    return judge(folder, "session", "session")


@judgement
def a_checkpoint_that_began_before_is_send(folder):
    return judge(folder, "send", "send")
