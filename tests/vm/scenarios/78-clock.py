# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import judgement, need
from judge.reading import Metrics, events, number


def status(folder, name):
    return int((folder / f"{name}.status").read_text())


def verdict(folder, name):
    return (folder / f"{name}.json").read_text()


def time_of(folder, name, gpu="0000:c1:00.0"):
    return float(Metrics(folder / f"{name}.prom").get("gpu_xid_last_timestamp_seconds", gpu=gpu,
                                                      xid="79"))


@judgement
def times_of_faults_move_with_the_clock(folder):
    begin, end = (float(t) for t in (folder / "fault.times").read_text().split())
    need(begin - 0.05 <= time_of(folder, "first") <= end + 0.05, "not the fault's time")
    since_boot = time_of(folder, "first") - number(folder / "first.origin")
    worst, origins = 0, []
    for name in ("first", "back", "earlier", "again", "forward", "down-forward", "down-back"):
        off = time_of(folder, name) - number(folder / f"{name}.origin") - since_boot
        need(abs(off) < 1, name, "the time is off by", off, "s")
        worst = max(worst, abs(off))
        origins.append(number(folder / f"{name}.origin"))
    steps = [b - a for a, b in zip(origins, origins[1:])]
    need(all(abs(step) > 3500 for step in steps), "the clock was not set:", steps)
    return f"within {worst * 1000:.0f} ms"


@judgement
def the_file_stays_fresh_when_the_clock_is_set(folder):
    need(status(folder, "first") == 2, verdict(folder, "first"))
    need(status(folder, "future") == 2, verdict(folder, "future"))
    seen = json.loads(verdict(folder, "future"))
    need(0 <= seen["age_seconds"] < 60, seen)
    need(status(folder, "back") == 2, verdict(folder, "back"))


@judgement
def an_acknowledgement_hides_nothing_new(folder):
    need(status(folder, "acknowledged") == 0, verdict(folder, "acknowledged"))
    need(status(folder, "earlier") == 2, "by a time in the future:", verdict(folder, "earlier"))
    need(status(folder, "again") == 0, verdict(folder, "again"))
    need(status(folder, "forward") == 2, "by an earlier time:", verdict(folder, "forward"))


@judgement
def ages_stay_right(folder):
    for name in ("down-forward", "down-back"):
        need(status(folder, name) == 2, name, "the fault is not of the last hour:",
             verdict(folder, name))


@judgement
def recoveries_stay_after_what_they_clear(folder):
    for name in ("recovered", "recovered-back", "recovered-down"):
        need(status(folder, name) == 0, name, verdict(folder, name))
    need(status(folder, "anew") == 2 and "0000:c2:00.0" in verdict(folder, "anew"),
         verdict(folder, "anew"))
    need("0000:c1:00.0" not in verdict(folder, "anew"), verdict(folder, "anew"))


@judgement
def a_fault_is_of_the_job_that_it_names(folder):
    faults = [event for event in events(folder / "events.json") if event["kind"] == "xid"]
    need(len(faults) == 2 and all(fault.get("job") == "71" for fault in faults), faults)
    return f"{len(faults)} faults"
