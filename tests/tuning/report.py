#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes tables (Markdown) of what tests/tuning/guest.sh left, and judges the predictions: report.py RESULTS TABLE.md

Exit status 1: of ten verdicts or predictions more than one is wrong.
"""
import pathlib
import sys

from judge.reading import read_json, session_verdict

KEPT = "nocto,actimeo=600"
# A session's name begins so: title, the limit as `bound_by` or in the sentence, the values of the setting that have a
# column, the factor of its unit.
TABLES = {
    "read": ("Buffered reads in sequence, `read_ahead_kb`", "readahead", [128, 1024, 4096, 16384], 1),
    "write": ("Buffered writes, MiB of `vm.dirty_bytes`", "writeback", [4, 16, 64, 256], 1 << 20),
    "sync": ("An fsync after each 64 KiB", "writeback", [1], 1),
    "open": ("Opens and reads of 16 small files, mount options", "metadata", ["noac", "lookupcache=none", "", KEPT], 1),
    "lock": ("32 writers of records of 1 KiB", "the lock of a file", ["one file", "O_DIRECT", "32 files"], 1),
    "turns": ("Two clients write and read files by turns, delegations", "a delegation of", ["granted", "none"], 1),
}
# Which should be proposed; of numbers, four times as much.
NEXT = {"noac": KEPT, "": KEPT, "lookupcache=none": "",
        "one file": "32 files", "O_DIRECT": "32 files", "granted": "none"}
NAMED, LEFT = 1.2, 1.05  # a setting that gains more is the limit, one that gains less is none


class Session:
    """KIND-MS-VALUE.trace.json"""

    def __init__(self, path):
        self.version = path.parent.name
        self.kind, self.ms, value = path.name.removesuffix(".trace.json").split("-", 2)
        self.value = int(value) if value.isdigit() else value
        self.verdict = session_verdict(path)
        files = path.with_name(f"{self.kind}-{self.ms}-{value}.files")
        server = max(read_json(path)["servers"], key=lambda s: s["calls"])
        moved = sum(op["sent_bytes"] + op["received_bytes"] for op in server["ops"])
        self.rate = int(files.read_text()) if files.exists() else moved / self.verdict["numbers"]["active_seconds"]


def is_proposed(session, value):
    verdict, factor = session.verdict, TABLES[session.kind][-1]
    if session.kind in ("lock", "turns"):
        return not verdict["setting"]
    if session.kind != "open":
        return verdict["value"] == str(value * factor)
    return f"{verdict['setting'].removeprefix('ac,')}={verdict['value']}" == (value or "lookupcache=all")


def cell(sessions, session, wrong):
    verdict, limit = session.verdict, TABLES[session.kind][1]
    value = NEXT.get(session.value) if isinstance(session.value, str) else session.value * 4
    wanted = (session.version, session.kind, session.ms, value)
    after = [s for s in sessions if (s.version, s.kind, s.ms, s.value) == wanted]
    gain, most = (after[0].rate / session.rate if after else None), verdict["gain_at_most"]
    named = verdict["bound_by"] == limit or limit in verdict["sentence"]
    said = verdict["bound_by"] + (", named" if named and verdict["bound_by"] != limit else "")
    good = named if session.kind == "sync" else gain is None or (gain <= NAMED or named) and (gain >= LEFT or not named)
    if after and named:
        good = good and is_proposed(session, value) and 0.95 <= gain <= (1.05 * most or gain)
    if not good:
        wrong.append(f"{session.version} {session.kind} {session.ms} ms {session.value}: {gain}, {verdict['sentence']}")
    bracket = f" (1 to {most:.1f})" if after and named and most else ""
    return f"{said}{f', {gain:.2f}' if after else ''}{bracket}{'' if good else ' **wrong**'}"


def table(sessions, kind, wrong):
    title, _, values, _ = TABLES[kind]
    rows = [[title, *(f"`{value}`" if value else "default" for value in values)], ["---"] * (len(values) + 1)]
    for version, ms in dict.fromkeys((s.version, s.ms) for s in sessions if s.kind == kind):
        found = {s.value: s for s in sessions if (s.version, s.kind, s.ms) == (version, kind, ms)}
        rows.append([f"{version}, {ms} ms", *(cell(sessions, found[value], wrong) for value in values)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main(results, to):
    sessions = [Session(path) for path in sorted(pathlib.Path(results).glob("*/*.trace.json"))]
    wrong = []
    text = "\n\n".join(table(sessions, kind, wrong) for kind in TABLES if any(s.kind == kind for s in sessions))
    pathlib.Path(to).write_text(text + "\n")
    print(text)
    for line in wrong:
        print("wrong:", line, file=sys.stderr)
    return len(wrong) > len(sessions) / 10


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
