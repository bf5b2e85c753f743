# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.checks import check_additive, check_no_drops
from judge.reading import Metrics, read_json


@judgement
def a_server_that_delays_calls_shows_as_delay(folder):
    metrics = Metrics(folder / "after.prom")
    delayed = metrics.get("rpc_errors_total", op="WRITE", status="EJUKEBOX")
    if not delayed:
        raise Skip("the server has delayed no write")
    # The client waits NFS_JUKEBOX_RETRY_TIME, 5 s, each time.
    delay = metrics.get("rpc_op_phase_seconds_total", op="WRITE", phase="delay")
    need(4.5 * float(delayed) <= delay <= 6 * float(delayed), delay, "s of delay for", delayed)
    check_additive(metrics)
    check_no_drops(metrics)
    return f"{delay} s for {delayed}"


@judgement
def the_verdict_on_it_is_delay(folder):
    if not Metrics(folder / "after.prom").get("rpc_errors_total", op="WRITE", status="EJUKEBOX"):
        raise Skip("the server has delayed no write")
    [server] = read_json(folder / "session.json")["servers"]
    verdict = server["verdict"]
    need(verdict["bound_by"] == "delay", verdict)
    return f"{verdict['confidence']}: {verdict['sentence']}"
