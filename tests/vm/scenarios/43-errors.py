# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, events, read_json, session_verdict


@judgement
def a_full_file_system_is_named(folder):
    verdict = session_verdict(folder / "full.json")
    need(verdict["bound_by"] == "errors" and not verdict.get("setting"), verdict)
    failed = (folder / "dd.txt").read_text().count("No space left")
    need(failed == 6 and "WRITEs to /mnt/four end with ENOSPC" in verdict["sentence"], failed, verdict["sentence"])
    # The rest of a WRITE that the server did in part is sent again: dd's figure is below what these calls carried.
    session = read_json(folder / "full.json")
    [server] = session["servers"]
    [write] = [op for op in server["ops"] if op["op"] == "WRITE"]
    moved = write["sent_bytes"] * (write["calls"] - server["errors"]) / write["calls"]
    counted = sum(episode["bytes"] for episode in session["episodes"])
    need(counted <= 1.01 * moved, "an episode has", counted, "bytes, of which only these moved:", moved)
    return verdict["sentence"]


@judgement
def the_event_and_the_finding_say_the_same(folder):
    [begin, end] = [e for e in events(folder / "events.json") if e["kind"] == "nfs_errors" and e["name"] == "data"]
    need(begin["state"] == "begin" and end["state"] == "end" and "ENOSPC" in end["text"], begin, end)
    [finding] = [f for f in read_json(folder / "full.check")["findings"] if f["rule"] == "nfs_errors"]
    need("ENOSPC" in finding["reason"] and "/mnt/four" in finding["reason"], finding)
    ordinary = read_json(folder / "ordinary.json")["findings"]
    need(not [f for f in ordinary if f["rule"] == "nfs_errors"], ordinary)
    errors = Metrics(folder / "after.prom").get("rpc_errors_total", op="WRITE", status="ENOSPC")
    need(errors >= 6, errors)
    return finding["reason"]
