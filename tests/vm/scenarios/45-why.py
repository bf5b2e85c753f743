# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import judgement, need
from judge.reading import events, iso, number, read_json


def seconds(text):
    return iso(text).timestamp()


@judgement
def why_has_what_happened_in_its_order(folder):
    why = read_json(folder / "why.json")
    happened = why["events"]
    times = [seconds(e["time"]) for e in happened]
    need(times == sorted(times), "not in order", times)
    storm = [e for e in happened if e.get("code") == 63]
    need(len(storm) == 1 and storm[0]["count"] == 500, "the storm", storm)
    need(abs(seconds(storm[0]["time"]) - number(folder / "storm")) < 3, "the storm's time")
    stalls = [e for e in happened if e["kind"] == "nfs_stall"]
    need(len(stalls) == 1, "stalls", stalls)
    begin, end = seconds(stalls[0]["time"]), seconds(stalls[0]["end"])
    need(-2 < begin - number(folder / "stopped") < 2, begin, "is not when the server stopped")
    need(number(folder / "stopped") + 20 < end < number(folder / "ended") + 2, end, "is not when it was back")
    said = next(json.loads(line) for line in open(folder / "events.json") if '"nfs_stall"' in line and '"end"' in line)
    need(0 < said["least_seconds"] < said["seconds"], said)
    lost = [e for e in happened if e.get("code") == 79]
    need(len(lost) == 1 and lost[0]["grade"] == "fatal", "Xid 79", lost)
    need(why["skipped_lines"] == 1, why["skipped_lines"], "lines left out")
    need([e["name"] for e in happened if e["kind"] == "agent"] == ["start", "start", "stop"], "agents")
    return f"a stall of {end - begin:.1f} s"


@judgement
def why_knows_when_nothing_was_watching(folder):
    gaps = read_json(folder / "why.json")["unwatched"]
    need(len(gaps) == 3, gaps)
    first, killed, stopped = gaps
    need("begins" in first["reason"], first)
    need("killed" in killed["reason"], killed)
    need(seconds(killed["from"]) <= number(folder / "killed") + 0.1, "the kill", killed)
    need(-10 < seconds(killed["to"]) - number(folder / "again") < 0.5, "the second start", killed)
    need("stopped" in stopped["reason"], stopped)
    need(abs(seconds(stopped["from"]) - number(folder / "over")) < 3, "the stop", stopped)


@judgement
def the_gravest_is_the_cause(folder):
    job = read_json(folder / "job.json")
    need(job["cause"] == "xid" and job["cause_event"]["code"] == 79, job.get("cause_event"))


@judgement
def the_journal_has_a_line_of_each_fault_and_of_the_stall(folder):
    """Although events go to a file."""
    said = [line["message"] for line in events(folder / "agent.log")]
    for what in (": Xid 63 (", ": Xid 79 (fatal) ", ": a call has waited ", " answers again after "):
        number = sum(what in message for message in said)
        need(number == 1 or (number == 2 and "63" in what), number, "lines of", what, said)  # a burst: first, the rest


@judgement
def all_commands_agree_on_what_is_open(folder):
    for name, state in (("open", "open"), ("acknowledged", "acknowledged")):
        faults = {f["fault"]: f for f in read_json(folder / f"{name}.faults")["faults"]}
        need({fault: f["state"] for fault, f in faults.items()} == {"63": "harmless", "79": state}, faults)
        need(faults["63"]["count"] == 500 and faults["79"]["count"] == 1, faults)
        events = {e["code"]: e.get("state") for e in read_json(folder / f"{name}.why")["events"] if e["kind"] == "xid"}
        need(events == {63: "harmless", 79: state}, "why:", events)
        is_open = {f["fault"] for f in faults.values() if f["state"] == "open"}
        found = {f["what"] for f in read_json(folder / f"{name}.check")["findings"] if "count" in f}
        need(found == is_open, "check finds", found)
        trace = read_json(folder / f"{name}.trace")
        need(trace["open_faults_before"] == len(is_open), "trace:", trace)
        need({f["fault"]: f["state"] for f in trace["faults"]} == {"63": "harmless", "79": state}, "trace:", trace)
        need("--hooks" in trace["not_observed"], trace["not_observed"])
    need((folder / "acked").read_text() == "acknowledged Xid 79 on 0000:c1:00.0: 1 fault, 0 still open\n", "ack")
    text = (folder / "faults.txt").read_text().splitlines()
    need(any(line.startswith("    fatal, 1 report: ") for line in text), text)
    stopped = (folder / "stopped.txt").read_text()
    need("check that 'xidscope run' is running" in stopped and stopped.endswith("\n3\n"), stopped)
