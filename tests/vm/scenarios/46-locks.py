# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import Metrics, events, mountstats_all, number, read_json, session_verdict
from judge.truths import compare_with_mountstats


@judgement
def waits_for_a_files_lock_are_the_applications(folder):
    verdict = session_verdict(folder / "contended.json", "127.0.0.1")
    need(verdict["bound_by"] == "application" and "wait for locks" in verdict["sentence"], verdict)
    need("/mnt/four" in verdict["sentence"], verdict["sentence"])
    return verdict["sentence"]


@judgement
def calls_to_the_lock_manager_have_a_family_of_their_own(folder):
    ours = compare_with_mountstats(folder, "before", "after", mountstats_all)
    calls = ours.get("nfs_lock_calls_total")
    if not Metrics(folder / "after.prom").get("rpc_source", source="btf"):
        raise Skip("this source does not see them")
    need(calls == 10 and ours.get("nfs_lock_errors_total") == 0, calls, "calls: 5 to lock, 5 to unlock")
    need(0 < ours.get("nfs_lock_seconds_total") < 60, "seconds")
    return f"{calls} calls"


@judgement
def a_task_that_waits_for_the_lock_manager_hangs(folder):
    [event] = [e for e in events(folder / "events.json") if e["kind"] == "nfs_stuck" and e["comm"] == "flock"]
    mount = "/mnt/three" if number(folder / "registers") else ""
    need(event["rpc"] and event.get("device", "") == mount, event)
    metrics = Metrics(folder / "stuck.prom")
    need(metrics.get("nfs_stuck_tasks", mountpoint=mount, state="rpc") == 1, metrics.each("nfs_stuck_tasks"))
    [finding] = [f for f in read_json(folder / "check.json")["findings"] if f["rule"].startswith("nfs_stuck")]
    need(finding["rule"] == "nfs_stuck" and "lock manager" in finding["reason"], finding)
    return f"after {event['seconds']:.0f} s"
