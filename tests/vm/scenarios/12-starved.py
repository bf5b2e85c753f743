# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import number


@judgement
def a_start_without_cpu_can_be_stopped(folder):
    need((folder / "early.started").read_text().strip() == "0", "it had started")
    took = number(folder / "early.ms") / 1000
    need(took < 10, "it took", took, "s")
    return f"{took} s"


@judgement
def an_agent_without_cpu_writes_and_ends(folder):
    log = (folder / "starved.log").read_text()
    need('"level":"error"' not in log, log)
    need(not (folder / "left").exists(), "the file is still there")
    took = number(folder / "late.ms") / 1000
    need(took < 10, "it took", took, "s")
    return f"file after {number(folder / 'file.ms') / 1000} s, stopped in {took} s"
