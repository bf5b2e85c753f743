# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import judgement, need
from judge.checks import check_no_drops
from judge.reading import Metrics, difference, events, mountstats_all
from judge.truths import compare_with_mountstats


def sums(metrics, name, label):
    return {value: metrics.get(name, **{label: value}) for value in metrics.values(name, label)}


@judgement
def with_a_file_of_types_all_equals_mountstats_and_the_events(folder):
    ours = {}
    for agent, source in (("file", "btf"), ("events", "tracepoints"), ("other", "tracepoints")):
        after = Metrics(folder / agent / "after.prom")
        need(after.get("rpc_source", source=source) == 1, agent, "is not in source", source)
        ours[agent] = compare_with_mountstats(folder / agent, "before", "after", mountstats_all)
        check_no_drops(after)
    single = [sums(difference(Metrics(folder / agent / "before.prom"), Metrics(folder / agent / "single.prom")),
                   "rpc_phase_seconds_sum", "phase") for agent in ("file", "events")]
    for phase in ("rtt", "finish", "slot", "session"):
        one, other = (sums(ours[agent], "rpc_phase_seconds_sum", "phase")[phase] for agent in ("file", "events"))
        need(abs(one - other) <= max(one, ours["file"].get("rpc_seconds_sum") / 10) / 1000, phase, one, "and", other)
    need(single[0]["rtt"] > 0, "no reply took time:", single[0])
    slots = Metrics(folder / "file" / "after.prom").each("rpc_slots", kind="max")
    need(4 in slots.values(), "no transport has four slots:", slots)
    return f"{ours['file'].get('rpc_seconds_count')} calls"


@judgement
def a_file_that_is_not_of_the_loaded_module_is_refused(folder):
    logged = [event["message"] for event in events(folder / "other" / "agent.log") if event["level"] == "warning"]
    need(len(logged) == 1 and "another build" in logged[0] and "\n" not in logged[0], logged)
    for file, text in (("sunrpc.ko", "every metric is available"), ("other.ko", "another build"),
                       ("cut.ko", "it has no build id"), ("untyped.ko", "pahole"), ("absent.ko", "No such file"),
                       ("passwd", "not an ELF file")):
        doctor = json.loads((folder / f"doctor-{file}.json").read_text())
        found = {f["name"]: f for f in doctor["findings"]}["sunrpc_types"]
        need(text in found["text"], file, found)
        need((doctor["source"] == "btf") == (file == "sunrpc.ko"), file, doctor["source"])
