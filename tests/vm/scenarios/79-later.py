# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import authority, counts, knows_callers
from judge.reading import Metrics, events


def faults_of(folder, gpu, name):
    return {code: n for (device, code), n in counts(Metrics(folder / f"{name}.prom")).items()
            if device == gpu}


@judgement
def tracefs_is_used_once_the_driver_is_loaded(folder):
    begin, loaded = Metrics(folder / "begin.prom"), Metrics(folder / "loaded.prom")
    need(begin.get("hook_attached", hook="trace_events") == 1, "not attached without tracefs")
    need(loaded.get("hook_attached", hook="nvidia_dev_xid") != knows_callers(folder), "not attached, or not needed")
    need(authority(loaded) == ("hook" if knows_callers(folder) else "driver"), authority(loaded))
    need(faults_of(folder, "0000:a1:00.0", "loaded") == {79: 1}, "not counted once")


@judgement
def what_is_missing_is_tried_again_each_minute(folder):
    without = Metrics(folder / "without.prom")
    need(without.get("hook_attached", hook="kernel_log") == 0, "/dev/kmsg is there")
    seconds = int((folder / "seconds").read_text())
    need(seconds <= 90, "attached after", seconds, "s")
    minute = Metrics(folder / "minute.prom")
    need(minute.get("hook_attached", hook="nvidia_dev_xid") != knows_callers(folder), "no driver's hook")
    need(faults_of(folder, "0000:a3:00.0", "minute") == {79: 1}, "not counted once")
    if knows_callers(folder):
        for name in ("blind", "minute"):
            need(faults_of(folder, "0000:a2:00.0", name) == {79: 1}, "by the hook alone:",
                 faults_of(folder, "0000:a2:00.0", name))
    log = (folder / "agent.log").read_text()
    # Without /dev/kmsg the hook cannot ask who prints.
    need(log.count("cannot read /dev/kmsg") == 1, "not said once")
    return f"after {seconds} s"


@judgement
def a_number_that_is_used_again_names_no_pod(folder):
    seen = {e["gpu"]: e for e in events(folder / "events.json") if e.get("kind") == "xid"}
    need((folder / "first.pid").read_text() == (folder / "second.pid").read_text(),
         "no process got that number again")
    need("cgroup" not in seen["0000:a4:00.0"], seen["0000:a4:00.0"])
    need(seen["0000:a5:00.0"].get("cgroup") == "/before", seen["0000:a5:00.0"])
