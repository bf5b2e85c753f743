# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, events


@judgement
def files_that_hang_silence_nothing(folder):
    ends = [line.split() for line in (folder / "ends").read_text().splitlines()]
    need(len(ends) == 13, "it was ended", len(ends), "times")
    slow = [(name, int(us)) for name, us in ends if int(us) > 1000000]
    need(not slow, "longer than a second:", slow)
    metrics = Metrics(folder / "all.prom")
    need(metrics.get("export_errors_total") >= 2, "hung writes are not counted")
    need(metrics.get("events_dropped_total", reason="event_log") == 0, "events were lost")
    # The log has those of other scenarios, too.
    xids = [event["xid"] for event in events(folder / "all.json") if event.get("comm") == "hung"]
    counted = {int(dict(labels)["xid"]) for labels in metrics.each("gpu_xid_errors_total", gpu="0000:c1:00.0")}
    counted = {xid for xid in counted if xid > 200}
    need(set(xids) == counted, "not the same faults:", sorted(counted ^ set(xids)))
    need(xids, "no fault")
    need(len(xids) == len(set(xids)), "twice in the log:", xids)
    return f"slowest end {max(int(us) for _, us in ends) / 1e6:.2f} s"
