# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import Metrics, read_json, session_verdict


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


@judgement
def a_recovery_that_makes_no_call_is_named(folder):
    if not (folder / "drain.check").exists():
        raise Skip("this kernel panics at the end of such a recovery")
    verdict = session_verdict(folder / "drain.json", "127.0.0.1")
    need(verdict["bound_by"] == "state_recovery" and not verdict["setting"], verdict)
    need("Calls (/mnt/volume" in verdict["sentence"], verdict["sentence"])
    reasons = [f["reason"] for f in read_json(folder / "drain.check")["findings"] if f["rule"] == "nfs_errors"]
    need([r for r in reasons if "/mnt/volume" in r and "makes no call" in r], reasons)
    return verdict["sentence"]
