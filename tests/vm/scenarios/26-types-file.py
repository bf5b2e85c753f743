# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops
from judge.reading import Metrics, between, complaints, mountstats_all, read_json
from judge.truths import compare_with_mountstats


def phases(metrics):
    """Seconds of each phase, of what the load calls: a lease may be renewed between two points of comparison."""
    sums = {}
    for key, value in metrics.each("rpc_op_phase_seconds_total").items():
        key = dict(key)
        if key["op"] not in ("SEQUENCE", "RENEW"):
            sums[key["phase"]] = sums.get(key["phase"], 0) + value
    return sums


def check_doctor(file, level, text):
    """What doctor says about a file; returns all findings by name."""
    doctor = read_json(file)
    found = {f["name"]: f for f in doctor["findings"]}
    finding = found["types_file"]
    need(finding["level"] == level and text in finding["text"], file.name, finding)
    need((doctor["source"] == "btf") == (text == "that of the loaded"), file.name, doctor["source"])
    return found


@judgement
def trace_has_the_types_from_the_file_of_its_option(folder):
    log = (folder / "trace.log").read_text()
    need("attached to sunrpc, source btf" in log, log)


@judgement
def with_a_file_of_types_all_equals_mountstats_and_the_events(folder):
    ours = {}
    for agent, source in (("file", "btf"), ("place", "btf"), ("events", "tracepoints"), ("other", "tracepoints")):
        after = Metrics(folder / agent / "after.prom")
        need(after.get("rpc_source", source=source) == 1, agent, "is not in source", source)
        ours[agent] = compare_with_mountstats(folder / agent, "before", "after", mountstats_all)
        check_no_drops(after)
    single = [phases(between(folder / agent, "before", "single"))
              for agent in ("file", "place", "events")]
    for phase in ("rtt", "finish", "slot", "session"):
        one, two, other = (phases(ours[agent])[phase] for agent in ("file", "place", "events"))
        for with_file in (one, two):
            need(abs(with_file - other) <= max(with_file, ours["file"].get("rpc_op_seconds_total") / 10) / 1000,
                 phase, with_file, "and", other)
    need(single[0]["rtt"] > 0, "no reply took time:", single[0])
    for agent in ("file", "place"):
        slots = Metrics(folder / agent / "after.prom").each("rpc_slots", kind="max")
        need(4 in slots.values(), "no transport has four slots:", slots)
    return f"{ours['file'].get('rpc_op_calls_total')} calls"


@judgement
def a_file_that_is_not_of_the_loaded_module_is_refused(folder):
    logged = complaints(folder / "other", "warning")
    need(len(logged) == 1 and "another build" in logged[0] and "\n" not in logged[0], logged)
    for file, text in (("other.ko", "another build"), ("cut.ko", "not all there"), ("untyped.ko", "pahole"),
                       ("absent.ko", "No such file"), ("passwd", "not an ELF file")):
        check_doctor(folder / f"doctor-{file}.json", "note", text)
    check_doctor(folder / "doctor-sunrpc.ko.json", "ok", "that of the loaded")
    check_doctor(folder / "doctor-place.json", "ok", "that of the loaded")
    fix = check_doctor(folder / "doctor-none.json", "ok", "there is no file")["sunrpc_types"]["fix"]
    need("pahole -J --btf_base /sys/kernel/btf/vmlinux /usr/lib/debug/.build-id/" in fix, fix)
