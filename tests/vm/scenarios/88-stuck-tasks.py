# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, events, number, read_json


def mount(folder):
    """What is known of it: there are two."""
    return "/mnt/stuck" if number(folder / "registers") else ""


def stuck(folder):
    return [event for event in events(folder / "events.json") if event["kind"] == "nfs_stuck"]


@judgement
def tasks_behind_a_lock_are_found_with_age_owner_and_stack(folder):
    found = stuck(folder)[:2]
    begin, end = number(folder / "begin"), number(folder / "found")
    for event, job in zip(sorted(found, key=lambda e: e["job"]), ("71", "72")):
        need(event["job"] == job and event["pid"] == number(folder / f"job_{job}.pid"), "owner", event)
        need(event["comm"] == "dd" and event.get("device", "") == mount(folder) and not event["rpc"], event)
        need(event["name"].startswith("nfs_") and event["name"] in event["stack"], event)
        need(abs(event["monotonic_seconds"] - event["seconds"] - begin) < 10, "age", event, begin)
    need(end - begin < 120, "found after", end - begin, "s")
    return f"after {end - begin:.0f} s"


@judgement
def they_are_counted_and_no_call_explains_them(folder):
    metrics = Metrics(folder / "stuck.prom")
    need(metrics.get("nfs_stuck_tasks", mountpoint=mount(folder), state="no_rpc") == 2, "tasks")
    need(metrics.get("nfs_stuck_tasks") == 2, "tasks elsewhere")
    age = float(metrics.get("nfs_oldest_stuck_task_seconds", mountpoint=mount(folder), state="no_rpc"))
    need(60 <= age < 140, "age", age)
    findings = read_json(folder / "check.json")["findings"]
    need([f["rule"] for f in findings if f["rule"].startswith("nfs_")] == ["nfs_stuck"], findings)
    over = Metrics(folder / "over.prom")
    need(over.get("nfs_stuck_tasks") == 0 and len(over.each("nfs_stuck_tasks")) == 2, "not over")
    kinds = [event["kind"] for event in read_json(folder / "why.json")["events"]]
    need(kinds.count("nfs_stuck") == 2, kinds)
    return f"{age:.0f} s"


@judgement
def a_dead_server_is_no_hang_without_a_call(folder):
    for i in 1, 2, 3:
        metrics = Metrics(folder / f"dead-{i}.prom")
        need(metrics.get("nfs_stuck_tasks", state="no_rpc") == 0, "no_rpc", metrics.each("nfs_stuck_tasks"))
        need(metrics.get("nfs_stuck_tasks", state="rpc") >= 1, "rpc", metrics.each("nfs_stuck_tasks"))
    need(all(event["rpc"] for event in stuck(folder)[2:]), stuck(folder))
    return f"{metrics.get('nfs_stuck_tasks', state='rpc')} tasks"
