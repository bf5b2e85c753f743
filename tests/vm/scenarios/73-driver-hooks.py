# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import counts
from judge.reading import between, events


@judgement
def driver_and_text_agree(folder):
    for turn in (1, 2):
        for build, xid_path, sxid_path in (("tracepoint", "both", "both"),
                                           ("function", "both", "text"),
                                           ("text", "text", "text"))[:4 - turn]:
            ours = between(folder, f"{build}-{turn}-before", f"{build}-{turn}-after")
            wanted = {("0000:c1:00.0", 79): 1, ("0000:c2:00.0", 31): 2,
                      ("0000:c3:00.0", 20034): 1}
            if build != "text":
                wanted["0000:c4:00.0", 48] = 1
            need(counts(ours) == wanted, build, turn, counts(ours))
            paths = {"both": 0, "text": 0, "driver": build != "text"}
            paths[xid_path] += 3
            paths[sxid_path] += 1
            seen = {p: int(ours.get("gpu_fault_reports_total", path=p)) for p in paths}
            need(seen == paths, build, turn, "paths", seen, "not", paths)
    ours = [e for e in events(folder / "events.json") if e.get("gpu") == "0000:c2:00.0"]
    need(all((e["pid"], e["comm"]) == (8, "a b") for e in ours), "pid and name")
