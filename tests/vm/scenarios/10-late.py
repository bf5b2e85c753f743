# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json
from datetime import datetime, timezone

from judge import Skip, judgement, need
from judge.reading import Metrics


@judgement
def agent_attaches_soon_after_sunrpc_loads(folder):
    absent = Metrics(folder / "absent.prom")
    need(absent.get("hook_attached", hook="rpc_task_sleep") == 0, "attached to what?")
    need(absent.get("rpc_source") == 0, "a source without sunrpc")
    loaded = float((folder / "loaded").read_text())
    for line in (folder / "agent.log").read_text().split("\n"):
        if "attached to sunrpc" in line:
            clock = json.loads(line)["time"]
            break
    attached = datetime.strptime(clock, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    delay = attached.timestamp() - loaded
    # A second on real CPUs. The guest's are emulated, and share two real ones: the note has the figure, and the bound
    # only detects an agent that does not attach.
    need(delay < 60, "attached after", delay, "s")
    source = (folder / "source").read_text().strip()
    need(Metrics(folder / "x.prom").get("rpc_source", source=source) == 1, "not in source", source)
    return f"source {source}, {delay:.2f} s"


@judgement
def verifiers_follow_few_instructions(folder):
    """Older ones, which forget less, follow ten times as many, and give up after a million."""
    names = {str(p["id"]): p.get("name", "?") for p in json.loads((folder / "programs.json").read_text())}
    lines = [line.split() for line in (folder / "verified").read_text().split("\n")]
    lines = [line for line in lines if len(line) == 2 and line[0] in names]
    if not lines:
        raise Skip("the kernel does not show it")
    followed = {names[program]: int(count) for program, count in lines}
    need(max(followed.values()) < 100000, followed)
    return ", ".join(f"{name} {count}" for name, count in sorted(followed.items(), key=lambda f: -f[1])[:6])
