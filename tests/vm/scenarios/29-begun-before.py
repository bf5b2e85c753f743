# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import judgement, need


def judge(folder, name, bound):
    told = []
    for source in ("btf", "tracepoints"):
        for seconds in (2, 10):
            session = json.loads((folder / f"{name}-{source}-{seconds}.json").read_text())
            need(session["servers"], name, source, seconds, "no server")
            verdict = max(session["servers"], key=lambda s: s["verdict"]["numbers"]["calls"])["verdict"]
            told.append(f"{source} {seconds} s: {verdict['bound_by']}, {verdict['confidence']}, "
                        f"earlier {verdict['numbers']['earlier_share']:.2f}")
            right = verdict["bound_by"] == bound
            doubtful = seconds < 10 and (verdict["bound_by"] == "none" or verdict["confidence"] == "low")
            need(right or doubtful, name, "\n".join(told), verdict["sentence"])
    return "; ".join(told)


@judgement
def waits_for_slots_that_began_before_are_slots(folder):
    return judge(folder, "slot", "slot")


@judgement
def waits_for_session_slots_that_began_before_are_session_slots(folder):
    return judge(folder, "session", "session")


@judgement
def a_checkpoint_that_began_before_is_send(folder):
    return judge(folder, "send", "send")
