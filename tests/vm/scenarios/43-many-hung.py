# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics


@judgement
def calls_that_hang_cost_little(folder):
    tasks = int((folder / "tasks").read_text().split()[0])
    need(tasks > 3000, tasks, "tasks hang")
    idle, hung = (int((folder / f"{name}.ticks").read_text()) for name in ("idle", "hung"))
    oldest = Metrics(folder / "hung.prom").get("rpc_oldest_waiter_seconds", queue="pending")
    need(30 < oldest < 100, "the oldest waits for", oldest, "s")
    need(hung < idle + 100, "a write takes", hung / 3, "ticks, instead of", idle / 3)
    return f"{tasks} tasks, {hung / 3:.0f} ticks a write, instead of {idle / 3:.0f}"
