# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re
from pathlib import Path

from judge import judgement, need
from judge.checks import knows_callers
from judge.reading import Metrics, events, iso, number


@judgement
def agent_attaches_soon_after_sunrpc_loads(folder):
    absent = Metrics(folder / "absent.prom")
    need(absent.get("hook_attached", hook="rpc_task_sleep") == 0, "attached to what?")
    need(absent.get("rpc_source") == 0, "a source without sunrpc")
    clock = next(e["time"] for e in events(folder / "attached.log") if "attached to sunrpc" in e["message"])
    delay = iso(clock).timestamp() - number(folder / "loaded")
    # A second on real CPUs. The guest's are emulated, and share two real ones: the note has the figure, and the bound
    # only detects an agent that does not attach.
    need(delay < 60, "attached after", delay, "s")
    source = (folder / "source").read_text().strip()
    need(Metrics(folder / "attached.prom").get("rpc_source", source=source) == 1, "not in source", source)
    return f"source {source}, {delay:.2f} s"


@judgement
def verifiers_follow_few_instructions(folder):
    """Of each program, at most a tenth more than in the table: older verifiers give up after a million."""
    rows = [line.split("\t") for line in (Path(__file__).parents[2] / "data" / "verified.tsv").read_text().split("\n")]
    rows = [row for row in rows if len(row) > 1]
    table = {row[0]: dict(zip(rows[0][1:], row[1:])) for row in rows[1:]}
    log = (folder / "agent.log").read_text()
    followed = {program: int(count) for program, count in re.findall(
        r"prog '(\w+)': -- BEGIN PROG LOAD LOG --[^\"]*?processed ([1-9]\d*) insns", log)}
    (folder / "verified").write_text("".join(f"{program}\t{count}\n" for program, count in sorted(followed.items())))
    need(followed.keys() <= table.keys(), "the table lacks", followed.keys() - table.keys())
    need("printk_console" in followed or not knows_callers(folder), followed)
    need(len(followed) > 5, followed)
    for row in table.values():
        row.pop("precise", None)  # of a verifier that these kernels do not have
    limits = {program: max(int(count) for count in table[program].values() if count != "-") for program in followed}
    above = {program: count for program, count in followed.items() if count > 1.1 * limits[program]}
    need(not above, "more than in tests/data/verified.tsv:", above)
    return ", ".join(f"{name} {count}" for name, count in sorted(followed.items(), key=lambda f: -f[1])[:6])
