# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import judgement, need
from judge.checks import counts
from judge.reading import Metrics, events, iso


@judgement
def faults_before_the_start_count(folder):
    early = [e for e in events(folder / "early.json") if e.get("comm") == "early"]
    times = [[float(t) for t in line.split()] for line in (folder / "times").read_text().splitlines()]
    need([e["xid"] for e in early] == list(range(201, 221)), [e["xid"] for e in early])
    after = [t.timestamp() for t in map(iso, (e["time"] for e in early))]
    off = max(max(begin - t, t - end, 0) for (begin, end), t in zip(times, after))
    need(off < 0.3, "times are off by", off, "s")
    need(all(e.get("replayed") for e in early), "not marked as replayed")
    for name in ("early", "again", "after", "damaged"):
        metrics = Metrics(folder / f"{name}.prom")
        if name == "damaged" and metrics.get("gpu_xid_errors_total", gpu="0000:e0:00.0") == 0:
            continue  # the storm has driven them out of the log
        need(metrics.get("gpu_xid_errors_total", gpu="0000:e0:00.0") == 20, name)
    need(not [e for e in events(folder / "again.json") if e.get("comm") == "early"],
         "reported again after a restart")
    return f"times within {off * 1000:.0f} ms"


@judgement
def killed_in_a_storm_each_line_counts_once(folder):
    again, after = Metrics(folder / "again.prom"), Metrics(folder / "after.prom")
    ours = {code: n for (gpu, code), n in counts(after).items() if gpu == "0000:e1:00.0"}
    held = {}
    for line in (folder / "held-by-key").read_text().split("\n"):
        if line:
            count, _, code = line.split()
            held[int(code)] = int(count)
    for code, n in held.items():
        need(ours.get(code, 0) >= n, "the log holds", n, "of Xid", code, "counted", ours.get(code))
    need(all(n <= 1000 for n in ours.values()), "counted twice:", ours)
    counted = sum(ours.values())
    lost = after.get("kernel_log_lost_records_total") - again.get("kernel_log_lost_records_total")
    need(counted + lost >= 100000, counted, "counted,", lost, "lost of 100000")
    return f"{counted} counted, {lost} records lost, {sum(held.values())} still in the log"


@judgement
def a_kill_doubles_what_is_replayed_and_loses_repeats_alone(folder):
    """As HEALTH.md says of the sums of 1 + repeats."""
    counted = {code: n for (gpu, code), n in counts(Metrics(folder / "killed.prom")).items() if gpu == "0000:e3:00.0"}
    need(counted == {500: 11, 501: 11, 502: 11, 503: 1}, counted)
    lines = [e for e in events(folder / "killed.json") if e.get("comm") == "slow"]
    first = {e["xid"] for e in lines if not e.get("replayed")}
    need(first == counted.keys(), "have a line of their own:", first)
    sums = {code: sum(1 + e["repeats"] for e in lines if e["xid"] == code) for code in counted}
    # The kill cuts bursts short, which lose their repeats. Of 503 the state may have been written before it.
    need(all(1 <= sums[code] <= 11 for code in (500, 501, 502)) and sums[503] in (1, 2), sums)
    need(sums[503] == 1 + sum(e.get("replayed", False) for e in lines), lines)
    return sums


@judgement
def processes_of_one_job_are_one_incident(folder):
    jobs = Metrics(folder / "jobs.prom")
    need(jobs.get("gpu_xid_errors_total", gpu="0000:e2:00.0") == 3, "not all were counted")
    faults = json.loads((folder / "state").read_text().split("\n")[1])["faults"]
    incidents = [f["incidents"] for f in faults if f["device"] == "0000:e2:00.0"]
    need(incidents == [2], incidents, "incidents")
