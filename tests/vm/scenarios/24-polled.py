# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, mountstats, read_json
from judge.truths import compare_with_mountstats


def polled(version, nconnect):
    @judgement
    def check(folder):
        ours = compare_with_mountstats(folder, f"{version}-before", f"{version}-after", additive=False)
        after = Metrics(folder / f"{version}-after.prom")
        need(after.get("rpc_source", source="mountstats") == 1, "not in source mountstats")
        # What it cannot measure is absent, not zero.
        need(after.values("rpc_phase_seconds_total", "phase") == {"rtt"}, "phases:",
             after.values("rpc_phase_seconds_total", "phase"))
        need(after.values("rpc_seconds_bucket", "le") == {"+Inf"}, "buckets")
        for name in ("rpc_saturated_seconds_total", "rpc_queue_depth_count", "rpc_queue_depth_max",
                     "rpc_oldest_waiter_seconds", "rpc_disconnects_total"):
            need(not after.each(name), name, "is there")
        # The superblock had two mount points for a while.
        theirs = mountstats(folder / f"{version}-after.mountstats")
        rtt = ours.get("rpc_phase_seconds_total", phase="rtt")
        old = mountstats(folder / f"{version}-before.mountstats")
        rtt_ms = sum(f["rtt_ms"] - old[op]["rtt_ms"] for op, f in theirs.items())
        need(rtt * 1000 == rtt_ms, "rtt", rtt, "s, by mountstats", rtt_ms, "ms")
        # sysfs has the transports' slots from 5.14 on.
        has_sysfs = "max_num_slots" in (folder / f"{version}.sysfs").read_text()
        slots = after.each("rpc_slots", kind="max")
        need(len(slots) == has_sysfs, slots)
        if has_sysfs:
            need(after.get("rpc_slots", kind="max", transport="tcp") == nconnect * 65536, slots)
        need(after.get("rpc_connects_total", transport="tcp") >= nconnect, "connects")
        # Counters stay when the mount has ended; gauges do not.
        gone = Metrics(folder / f"{version}-gone.prom")
        for name in ("rpc_op_calls_total", "rpc_sent_bytes_total", "rpc_connects_total"):
            need(gone.get(name) >= after.get(name), name, "fell")
        need(not gone.each("rpc_slots"), "slots of a mount that has gone")
        return f"{ours.get('rpc_op_calls_total')} calls"
    check.__name__ = f"source_mountstats_equals_mountstats_v{version}"


def completed(version):
    @judgement
    def check(folder):
        ours = compare_with_mountstats(folder / "events", f"{version}-before", f"{version}-after")
        events, after = (Metrics(path / f"{version}-after.prom") for path in (folder / "events", folder))
        need(events.get("rpc_source", source="tracepoints") == 1, "not in source tracepoints")
        need(ours.get("rpc_sent_bytes_total") > 0 < ours.get("rpc_received_bytes_total"), "no bytes")
        slots = events.each("rpc_slots")
        need(slots == after.each("rpc_slots"), "slots differ:", slots, after.each("rpc_slots"))
        sent, received = (ours.get(f"rpc_{way}_bytes_total") for way in ("sent", "received"))
        return f"{sent} and {received} bytes, {len(slots)} samples of slots"
    check.__name__ = f"source_tracepoints_has_bytes_and_slots_from_there_v{version}"


completed("3")
completed("4.2")
polled("3", 1)
polled("4.2", 4)


@judgement
def doctor_names_the_source_and_the_reason(folder):
    doctor = read_json(folder / "4.2-doctor.json")
    found = {f["name"]: f for f in doctor["findings"]}
    need(doctor["kernel"] == (folder.parent / "release").read_text().strip(), doctor["kernel"])
    typed = found["sunrpc_types"]["level"] == "ok"
    need(typed == (folder / "types").exists(), found["sunrpc_types"])
    need(doctor["source"] == ("btf" if typed else "tracepoints"), doctor["source"])
    need(doctor["healthy"] == typed, doctor)
    need(typed or "fix" in found["sunrpc_types"], found["sunrpc_types"])
    return f"source {doctor['source']}"
