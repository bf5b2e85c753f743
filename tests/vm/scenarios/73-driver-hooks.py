# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import authority, counts, knows_callers
from judge.reading import Metrics, between, events


@judgement
def each_fault_of_each_driver_counts_once(folder):
    for turn in (1, 2):
        for build in ("tracepoint", "text")[:3 - turn]:
            after = Metrics(folder / f"{build}-{turn}-after.prom")
            ours = between(folder, f"{build}-{turn}-before", f"{build}-{turn}-after")
            by = "hook" if knows_callers(folder) else "driver" if build == "tracepoint" else "log"
            need(authority(after) == by, build, turn, authority(after), "not", by)
            unnamed = after.get("events_dropped_total", reason="printk")
            need(by != "hook" or not unnamed, build, turn, unnamed, "callers without a name")
            wanted = {("0000:c1:00.0", 79): 1, ("0000:c2:00.0", 31): 2,
                      ("0000:c3:00.0", 20034): 1}
            if by == "driver":  # the only one that needs no text
                wanted["0000:c4:00.0", 48] = 1
            need(counts(ours) == wanted, build, turn, counts(ours))
            need(not ours.get("gpu_xid_unverified_total"), build, turn, "unverified")
    ours = [e for e in events(folder / "events.json") if e.get("gpu") == "0000:c2:00.0"]
    # The driver's report has no process: only the text has.
    need(ours and all((e["pid"], e["comm"]) == (8, "a b") for e in ours), "pid and name")


@judgement
def a_storm_around_each_load_and_unload_counts_once(folder):
    """Xids from before the tracepoint is enabled, and those that the kernel drops as it unloads the driver."""
    ours = between(folder, "reload-before", "reload-after")
    lost = ours.get("kernel_log_lost_records_total")
    hooks = Metrics(folder / "reload-after.prom").values("hook_attached", "hook")
    need("kernel_log" in hooks and "nvidia_dev_xid" not in hooks, hooks, "the driver is gone")
    for code in (61, 62, 63):
        count = counts(ours).get(("0000:c5:00.0", code), 0)
        need(count <= 200 <= count + lost, "Xid", code, "counted", count, "of 200,", lost, "lost")
    return f"{lost} records lost"
