# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, difference
from judge.truths import has_all_families, waits_for_server


@judgement
def a_stopped_server_shows_and_nothing_is_lost(folder):
    ours = difference(Metrics(folder / "before.prom"), Metrics(folder / "after.prom"))
    need(ours.get("rpc_disconnects_total") >= 1, "no disconnect seen")
    need(ours.get("rpc_connects_total") >= 1 or not has_all_families(Metrics(folder / "after.prom")),
         "no connect seen")
    return waits_for_server(folder)
