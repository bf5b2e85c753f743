# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import session_verdict

# What limits each set-up, and what else it may be with confidence low, as the number in flight does not vary.
LIMITS = {
    "slot": "slot", "session": "session", "undecided": "slot session", "mixed": "slot", "changed": "slot",
    "serial": "server", "workers": "server slot", "server": "server", "storage": "server",
    "send": "send", "application": "application", "client_cpu": "client_cpu", "hung": "hung", "soft": "hung",
    "window": "network", "link": "network", "narrow": "network", "push": "network", "resend": "resend",
}
# Only btf has TCP's figures: by tracepoints these are the server, with confidence low.
BY_TCP = "window link narrow push resend".split()


def is_right(verdict, setup, length, source):
    bound, confidence = verdict["bound_by"], verdict["confidence"]
    if length < 10 and (bound == "none" or confidence == "low"):
        return True
    limit, *others = LIMITS[setup].split()
    if setup in BY_TCP and source != "btf":
        others.append("server")
    return bound == limit or (bound in others and confidence == "low")


def judged(setup):
    @judgement
    def check(folder):
        if setup not in (folder / "setups").read_text().split():
            raise Skip("not among the set-ups of this run")
        told, wrong = [], []
        for file in sorted(folder.glob(f"{setup}-*.json")):
            source, length, begun = file.stem.removeprefix(f"{setup}-").split("-")
            verdict = session_verdict(file)
            told.append(f"{source} {length} s from {begun} s: {verdict['bound_by']}, {verdict['confidence']}, "
                        f"earlier {verdict['numbers']['earlier_share']:.2f}")
            if not is_right(verdict, setup, int(length), source):
                wrong += [told[-1], verdict["sentence"]]
        need(told, "no session")
        need(not wrong, *wrong)
        return "; ".join(told)
    check.__name__ = f"sessions that start during the load {setup} are right after 10 s"


for name in LIMITS:
    judged(name)
