# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops, dominant
from judge.reading import Metrics, read_json
from judge.truths import compare_with_mountstats


@judgement
def waiting_for_gssd_shows_as_setup(folder):
    compare_with_mountstats(folder, "before", "after")
    ours = compare_with_mountstats(folder, "after", "waited")
    check_no_drops(Metrics(folder / "waited.prom"))
    setup = float(ours.get("rpc_phase_seconds_total", phase="setup"))
    stopped = float((folder / "stopped").read_text())
    need(stopped / 2 < setup < stopped + 1, setup, "s of setup within", stopped)
    need(dominant(ours) == "setup", "dominant is", dominant(ours))
    return f"{setup:.2f} s of setup"


@judgement
def the_verdict_on_it_is_credentials(folder):
    [server] = read_json(folder / "credentials.json")["servers"]
    verdict = server["verdict"]
    need(verdict["bound_by"] == "credentials", verdict)
    return f"{verdict['confidence']}: {verdict['sentence']}"


@judgement
def waits_and_tickets_are_named_while_other_calls_go_on(folder):
    [server] = read_json(folder / "gssd.json")["servers"]
    waits = server["verdict"]
    need(waits["bound_by"] == "credentials" and "s for credentials" in waits["sentence"], waits)
    [finding] = [f for f in read_json(folder / "gssd.check")["findings"] if f["rule"] == "nfs_errors"]
    need("sh (" in finding["reason"] and "rpc.gssd (does it run?)" in finding["reason"], finding)
    [server] = read_json(folder / "expired.json")["servers"]
    expired = server["verdict"]
    need("end with EKEYEXPIRED" in expired["sentence"] and "renew the ticket" in expired["sentence"], expired)
    need(not expired["setting"], expired)
    return f"{waits['sentence']} {expired['sentence']}"
