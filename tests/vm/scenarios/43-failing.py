# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import events, read_json, session_verdict


def finding(path, *texts):
    reasons = [f["reason"] for f in read_json(path)["findings"] if f["rule"] == "nfs_errors"]
    need([r for r in reasons if all(text in r for text in texts)], reasons)


@judgement
def a_removed_export_is_named(folder):
    verdict = session_verdict(folder / "stale.json")
    need(verdict["bound_by"] == "errors" and not verdict["setting"], verdict)
    # 7.x answers so to a handle of an export that is gone
    error = "EBADHANDLE" if "EBADHANDLE" in verdict["sentence"] else "ESTALE"
    need(f"end with {error}" in verdict["sentence"], verdict["sentence"])
    finding(folder / "stale.check", error, "/mnt/")
    return verdict["sentence"]


@judgement
def a_soft_mount_that_gives_up_is_named_with_its_stall(folder):
    for version in ("4.2", "3"):
        verdict = session_verdict(folder / f"soft-{version}.json")
        need(verdict["numbers"]["stall_seconds"] >= 5, verdict["numbers"])
        need("/mnt/soft (soft) gave E" in verdict["sentence"], verdict["sentence"])
        need(not verdict["setting"], verdict)
        finding(folder / f"soft-{version}.check", "(soft) gave E", "/mnt/soft")
    kinds = {e["name"] for e in events(folder / "events.json") if e["kind"] == "nfs_errors"}
    need({"stale", "data"} <= kinds, kinds)
    return verdict["sentence"]
