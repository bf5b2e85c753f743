# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import events, read_json


def finding(folder, name, rule, *words):
    """The finding of that rule whose reason has these words, and after how many seconds it was there."""
    found = [f for f in read_json(folder / f"{name}.json")["findings"] if f["rule"] == rule and words[0] in f["reason"]]
    need(len(found) == 1, name, found)
    for word in words:
        need(word in found[0]["reason"], name, word, found[0])
    seconds = int((folder / f"{name}.seconds").read_text())
    return f"{name} {seconds} s"


@judgement
def a_spinning_cpu_is_found_with_task_owner_and_function(folder):
    words = ("cpu1", "bash/", "of job 71 ", "in uvm_broken_spin")
    finding(folder, "stall", "cpu_stall", *words)
    result = finding(folder, "stuck", "cpu_stuck", *words)
    return result + ", " + finding(folder, "rcu", "cpu_stall", "cpu0", "bash/", "of job 72 ", "in uvm_broken_spin")


@judgement
def a_task_that_no_watchdog_notices_is_found_by_what_cpus_run(folder):
    spinners = [(e["device"], e.get("comm")) for e in events(folder / "events.json") if e.get("name") == "kernel_spin"]
    need(("cpu0", "bash") in spinners, spinners)
    # The one that the watchdog found may be killed while it is looked up: it has no name then.
    need({comm for _, comm in spinners} <= {"bash", None}, spinners)
    return finding(folder, "loop", "cpu_stall", "kernel_spin of cpu0", "bash/", "of job 74 ", "in uvm_broken_loop")


@judgement
def a_task_that_hangs_in_the_gpu_driver_is_found_without_nfs(folder):
    return finding(folder, "hang", "gpu_stuck", "gpu_hang of nvidia_uvm", "bash/", "of job 76 ", "in uvm_broken_hang")


@judgement
def it_is_over_when_it_has_ended(folder):
    rules = [f["rule"] for f in read_json(folder / "over.json")["findings"]]
    need(not {"cpu_stuck", "cpu_stall", "gpu_stuck"} & set(rules), rules)
    return finding(folder, "over", "kernel_damaged", "kernel_corruption")


@judgement
def an_oops_fails_and_a_warning_is_an_event(folder):
    seen = {(e.get("name"), e.get("device", "")) for e in events(folder / "events.json")}
    need(("kernel_warning", "nvidia_uvm") in seen, seen)
    need({name for name, _ in seen} >= {"kernel_corruption", "soft_lockup", "rcu_stall"}, seen)
    where = ("on cpu1", "in uvm_broken_oops")
    return finding(folder, "oops", "kernel_oops", "uvm_broken_oops", "nvidia_uvm", "bash/", "of job 73 ", *where)


@judgement
def a_list_that_is_not_whole_is_found(folder):
    rules = {f["rule"] for f in read_json(folder / "corrupt.json")["findings"]}
    rule = "kernel_oops" if "kernel_oops" in rules else "kernel_damaged"
    return rule + ": " + finding(folder, "corrupt", rule, "uvm_broken_corrupt", "bash/", "of job 75 ", "on cpu0")
