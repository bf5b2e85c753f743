# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, between
from judge.truths import has_all_families, waits_for_server


@judgement
def a_stopped_server_shows_and_nothing_is_lost(folder):
    ours = between(folder, "before", "after")
    need(ours.get("rpc_disconnects_total") >= 1, "no disconnect seen")
    need(ours.get("rpc_connects_total") >= 1 or not has_all_families(Metrics(folder / "after.prom")),
         "no connect seen")
    return waits_for_server(folder)


@judgement
def a_call_whose_connection_is_refused_has_an_age(folder):
    metrics = Metrics(folder / "refused.prom")
    age = float(metrics.get("rpc_oldest_waiter_seconds", server="127.0.0.2", queue="pending"))
    need(8 < age < 60, "its age is", age, "s")
    flight = metrics.get("rpc_slots", server="127.0.0.2", kind="in_flight")
    # The other sources have what sysfs shows of the transport: the tasks that wait for its replies.
    need(flight >= 1 or not has_all_families(metrics), flight, "calls are outstanding")
    return f"{age:.1f} s"
