# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, difference, events, read_json


@judgement
def what_comes_with_gpu_failures_is_counted(folder):
    end = Metrics(folder / "end.prom")
    ours = difference(Metrics(folder / "begin.prom"), end)
    for kind, device in (("oom_kill", ""), ("hung_task", ""), ("link_down", "0000:53:00.0"),
                         ("nfs_not_responding", "127.0.0.1"), ("nfs_ok", "127.0.0.1")):
        need(ours.get("kernel_events_total", kind=kind, device=device) >= 1, "no", kind)
    need(ours.get("kernel_events_total", device="0000:54:00.0") == 0,
         "a line counts that was not printed for its device")
    need(ours.get("kernel_events_total", kind="oom_kill") == 1, "oom_kill more than once")
    need(ours.get("gpu_driver_errors_total", gpu="0000:9b:00.0",
                  kind="rm_init_adapter_failed") == 1, "driver error")
    need(ours.get("gpu_driver_errors_total", gpu="0000:9c:00.0") == 0,
         "the line that follows Xid 79 counts by itself")
    need(end.get("gpu_info", gpu="0000:9b:00.0", serial="1650124014249",
                 uuid="GPU-509665ad-b600-ac93-3616-d754b23d636d") == 1, "identity")
    need(end.get("node_finding_info", check="gsp_rate_limited", device="0000:9b:00.0") == 1, "rate limit")
    # Not those of the log so far, where other scenarios have left such events.
    seen = {e.get("name"): e for e in events(folder / "events.json") if not e.get("replayed")}
    need(seen["oom_kill"]["comm"] == "tail", "killed", seen["oom_kill"])
    need(seen["hung_task"]["pid"] > 1, "hung", seen["hung_task"])
    verdict = (folder / "check.txt").read_text()
    need("CRITICAL" in verdict and "0000:9c:00.0" in verdict, verdict)
    found = {f["rule"]: (f["level"], f["count"]) for f in read_json(folder / "check.json")["findings"]
             if f["rule"].startswith(("driver", "reset", "nvlink"))}
    need(found == {"driver_error": ("fail", 1), "reset_required": ("fail", 1), "nvlink_error": ("warn", 1),
                   "driver_assertion": ("warn", 3)}, found)
    return verdict.split("\n")[0][:120]
