# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need


def seconds(folder, name):
    return int((folder / f"{name}.ms").read_text()) / 1000


@judgement
def a_start_without_cpu_can_be_stopped(folder):
    need((folder / "early.started").read_text().strip() == "0", "it had started")
    took = seconds(folder, "early")
    need(took < 10, "it took", took, "s")
    return f"{took} s"


@judgement
def an_agent_without_cpu_writes_and_ends(folder):
    log = (folder / "starved.log").read_text()
    need('"level":"error"' not in log, log)
    need(not (folder / "left").exists(), "the file is still there")
    took = seconds(folder, "late")
    need(took < 10, "it took", took, "s")
    return f"file after {seconds(folder, 'file')} s, stopped in {took} s"
