# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, read_json


@judgement
def two_clients_with_one_identity_recover_again_and_again(folder):
    session, metrics = read_json(folder / "state.json"), Metrics(folder / "last.prom")
    verdicts = [server["verdict"] for server in session["servers"] if server["ops"]]
    need(len(verdicts) == 2, [v["sentence"] for v in verdicts])
    for verdict in verdicts:
        numbers = verdict["numbers"]
        need(verdict["bound_by"] == "state_recovery" and not verdict["setting"], verdict)
        need("another client has its identity" in verdict["sentence"], verdict["sentence"])
        need(numbers["recoveries"] >= 3 and numbers["state_errors"] >= 4, numbers)
    if session["source"] == "btf":
        drained = metrics.get("rpc_session_draining_seconds_total")
        need(drained > 0, drained)
    return verdicts[0]["sentence"]
