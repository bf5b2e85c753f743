# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, number


@judgement
def tasks_in_nfs_are_found_among_a_users_sleepers(folder):
    begin, end = (number(folder / name) for name in ("begin", "end"))
    need(end - begin < 180, "found after", end - begin, "s")
    metrics = Metrics(folder / "three.prom")
    need(metrics.get("events_dropped_total", reason="stuck_task") == 0, metrics.each("events_dropped_total"))
    return f"after {end - begin:.0f} s"


@judgement
def tasks_without_room_are_counted_and_said(folder):
    dropped = Metrics(folder / "many.prom").get("events_dropped_total", reason="stuck_task")
    need(dropped >= 44, dropped)
    need((folder / "agent.log").read_text().count("tasks hang: ") == 1, "the message")
    return f"{dropped} at looks"
