# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json
from collections import Counter

from judge import judgement, need
from judge.reading import Metrics, events, read_json

MADE = ("ENOENT", "EEXIST", "ENOTEMPTY", "EACCES", "EPERM", "EAGAIN", "ELOOP", "ENAMETOOLONG", "ENOTDIR", "EISDIR",
        "ESTALE")


@judgement
def users_meet_the_ordinary_errors(folder):
    met = Counter()
    for file in [f for f in folder.iterdir() if f.name.rsplit("-", 1)[-1] in ("four", "three") and not f.suffix]:
        met.update(json.loads(file.read_text()))
    need(all(met[name] for name in MADE), met)
    return dict(met.most_common())


@judgement
def no_event_but_of_a_limit_and_no_finding_comes_of_them(folder):
    # A busy machine may limit the calls, which is no error.
    wrong = [e for e in events(folder / "events.json")
             if e["kind"].startswith("nfs_") and e["kind"] != "nfs_saturation"]
    need(not wrong, *wrong)
    for file in folder.glob("check-*.json"):
        found = [f for f in read_json(file)["findings"] if f["rule"].startswith("nfs_")]
        need(not found, file.name, *found)
    errors = Metrics(folder / "last.prom").get("rpc_errors_total")
    need(errors > 100, errors)
    return f"of {errors} errors"


@judgement
def no_session_has_trouble(folder):
    files = sorted(folder.glob("session-*.json"))
    for file in files:
        session = read_json(file)
        grave = [f for f in session["findings"] if f["kind"] in ("gpu", "silent", "errors") or f["level"] == "critical"]
        need(not grave, file.name, *grave)
    return f"{len(files)} sessions"
