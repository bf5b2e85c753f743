# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import counts
from judge.reading import Metrics, difference, events


@judgement
def each_xid_line_counts_once(folder):
    begin = Metrics(folder / "begin.prom")
    few = difference(begin, Metrics(folder / "few.prom"))
    need(counts(few) == {("0000:c1:00.0", 79): 1, ("0000:3b:00.0", 31): 2,
                         ("0002:01:00.0", 13): 1, ("0000:c3:00.0", 20034): 1}, counts(few))
    need(few.get("gpu_xid_errors_total", xid="79", severity="fatal") == 1, "severity")
    need(few.get("nvswitch_sxid_errors_total", severity="fatal") == 1, "SXid")
    written = int((folder / "written").read_text())
    last = float(Metrics(folder / "few.prom").get("gpu_xid_last_timestamp_seconds",
                                                  gpu="0000:c1:00.0", xid="79"))
    need(abs(last - written) <= 3, "timestamp", last, "not near", written)
    storm = difference(begin, Metrics(folder / "storm.prom"))
    counted = storm.get("gpu_xid_errors_total", gpu="0000:d1:00.0")
    lost = storm.get("kernel_log_lost_records_total")
    need(counted <= 3000 <= counted + lost, counted, "counted of 3000 and", lost, "lost")
    # With those that the agent has found in the kernel log as it started.
    folded = sum(1 + e["repeats"] for e in events(folder / "events.json")
                 if e.get("gpu") == "0000:d1:00.0")
    in_all = Metrics(folder / "storm.prom").get("gpu_xid_errors_total", gpu="0000:d1:00.0")
    need(folded == in_all, folded, "in the event log,", in_all, "counted")
    lines = len(events(folder / "events.json"))
    need(lines < 100, "the event log has", lines, "lines: not folded")
    return f"storm: {counted} counted, {lost} lost, {lines} lines in the event log"
