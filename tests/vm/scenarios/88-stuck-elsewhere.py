# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import Metrics, events, number, read_json


@judgement
def tasks_of_a_pod_are_found_and_count_for_no_mount_of_the_node(folder):
    found = {event["comm"]: event for event in events(folder / "events.json") if event["kind"] == "nfs_stuck"}
    need("stat" in found and "dd" in found, found)
    need("device" not in found["stat"] and found["stat"]["rpc"], found["stat"])
    metrics = Metrics(folder / "stuck.prom")
    need(metrics.get("nfs_stuck_tasks", state="no_rpc") == 0, metrics.each("nfs_stuck_tasks"))
    need(metrics.get("nfs_stuck_tasks", mountpoint="", state="rpc") >= 2, metrics.each("nfs_stuck_tasks"))
    return f"after {max(event['seconds'] for event in found.values()):.0f} s"


@judgement
def a_call_in_its_retry_delay_is_outstanding(folder):
    metrics = Metrics(folder / "stuck.prom")
    if not metrics.get("rpc_errors_total", op="WRITE", status="EJUKEBOX"):
        raise Skip("the server has delayed no write")
    known = number(folder / "registers")
    need(metrics.get("nfs_stuck_tasks", mountpoint="/mnt/healthy", state="rpc") == (1 if known else 0),
         metrics.each("nfs_stuck_tasks"))
    findings = [f for f in read_json(folder / "check.json")["findings"] if f["rule"].startswith("nfs_stuck")]
    need({f["rule"] for f in findings} == {"nfs_stuck"}, findings)
    need(any("again later" in f["reason"] for f in findings), findings)
    return f"{len(findings)} findings"
