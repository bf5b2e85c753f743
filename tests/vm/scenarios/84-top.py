# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re
import subprocess
from pathlib import Path

from judge import judgement, need
from judge.reading import read_json

FIGURES = Path(__file__).parents[2] / "cli/top_figures.py"


@judgement
def top_has_the_figures_of_trace(folder):
    views = ("mounts", "ops", "owners")
    for view in views:
        (folder / view).write_text((folder / f"{view}.txt").read_text())
    found = subprocess.run(["/usr/bin/python3", FIGURES, "same.json", *views], cwd=folder, text=True, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    need(not found.returncode, found.stdout[-3000:])
    calls = sum(s["calls"] for s in read_json(folder / "same.json")["servers"])
    need(calls > 900, calls, "calls")
    need("slurm:4711 127.0.0.1" in (folder / "owners").read_text(), "no row of the job")
    return f"{calls} calls"


@judgement
def top_needs_a_server_and_a_terminal(folder):
    none = (folder / "none.txt").read_text()
    need("0 of 0 rows" in none and "each server answered" not in none, none)
    need((folder / "dumb.code").read_text() == "1\n" and not (folder / "dumb.txt").read_text(), "TERM=dumb")
    log = (folder / "dumb.log").read_text()
    need(log == "xidscope: top needs a terminal that can place text; use top --batch 1, or trace\n", log)


@judgement
def a_call_that_hangs_is_named(folder):
    top, text = (folder / "hung.top").read_text(), (folder / "hung.txt").read_text()
    need(re.search(r"^/mnt/top 127\.0\.0\.1:\S+ .* [\d.]+ s$", top, re.M), top)
    first = text.split("\nSummary\n")[1].split("\n")[0]
    call = rf"; oldest call: [A-Z]+ of dd {(folder / 'reader').read_text().strip()}, "
    # The session begins after the call: trace events do not show who made it.
    early = call if read_json(folder / "hung.json")["source"] == "btf" else r"; oldest call: [A-Z]+\)"
    need(re.match(rf"- 127\.0\.0\.1 does not answer for .*\(/mnt/\w+.*{early}", first), first)
    for name in ("hung.txt", "check.txt", "why.txt", "events.log"):
        text = (folder / name).read_text()
        need(re.search(early if name == "hung.txt" else call, text.replace("\n         ", " ")), name, text[-2000:])
    return first
