# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need


@judgement
def threads_that_wait_for_a_slow_server_do_not_hang_without_a_call(folder):
    text = (folder / "stuck.txt").read_text()
    without, behind = (
        [int(n) for n in re.findall(r'^stuck_tasks\{.*state="%s"\} (\d+)$' % state, text, re.M)]
        for state in ("no_rpc", "rpc")
    )
    need(without, "no figures")
    need(max(without) == 0, "no_rpc", text)
    events = folder / "events.json"
    need(not events.exists() or '"rpc":false' not in events.read_text(), "event")
    waiting = max(int(n) for n in re.findall(r"/(\d+) \d+$", text, re.M))
    return f"{len(without)} looks, {waiting} threads, {max(behind, default=0)} behind a call for 60 s"
