# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.checks import check_additive, lost_by_preemption
from judge.reading import between, mountstats_all, read_json


@judgement
def killed_tasks_leave_nothing_behind(folder):
    ours = between(folder, "before", "after")
    check_additive(ours)
    old = mountstats_all(folder / "before.mountstats")
    new = mountstats_all(folder / "after.mountstats")
    for op in ("READ", "WRITE"):
        theirs = new[op]["ops"] - old[op]["ops"]
        need(theirs == ours.get("rpc_op_calls_total", op=op), op, "ops:", theirs,
             "and", ours.get("rpc_op_calls_total", op=op))
        need(new[op]["errors"] - old[op]["errors"] == ours.get("rpc_errors_total", op=op),
             op, "errors differ")
    need(ours.get("rpc_errors_total") > 0, "nothing was killed")
    tasks = re.findall(r'"0x[0-9a-f]{2}"', (folder / "waiters.json").read_text())
    table = read_json(folder / "waiters.json")
    left = sum(1 for entry in table
               for task in entry["formatted"]["value"]["task"] if task)
    need(tasks or table, "the table was not dumped")
    need(left == 0, left, "tasks are left in the table")
    counted = re.search(r'"rpc_waiters_in_use": *\{\s*"count": *(\d+)', (folder / "variables.json").read_text())
    at_release = re.search(r'"rpc_record_at_release": *(true|1)', (folder / "constants.json").read_text())
    # Where all calls are waiters, they are not counted one by one.
    need(counted[1] == ("1" if at_release else "0"), counted[1], "are counted in the table, which is empty")
    # A call killed between two attempts to transmit may have slept after the
    # last one: the only thing that may be corrected.
    clipped = ours.get("events_dropped_total", reason="rpc_wait_clipped")
    need(clipped <= ours.get("rpc_errors_total"), clipped, "waits clipped")
    gone = ours.get("events_dropped_total", reason="rpc_owner_gone")
    need(ours.get("events_dropped_total") == clipped + gone + lost_by_preemption(ours), "events dropped")
    return f"{ours.get('rpc_op_calls_total')} calls, {ours.get('rpc_errors_total')} errors"
