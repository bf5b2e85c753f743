# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from statistics import median

from judge import judgement, need
from judge.reading import read_json

THREE, FOUR = "/mnt/three", "/mnt/with blank"


def result(folder, name):
    code, milliseconds, left = map(int, (folder / f"{name}.result").read_text().split())
    findings = read_json(folder / f"{name}.json")["findings"]
    return code, milliseconds, left, {(f["rule"], f["device"]) for f in findings}


@judgement
def a_hung_mount_fails_the_check_and_holds_nothing(folder):
    for name, code, findings in (
        ("fine", 0, set()),
        ("absent", 2, {("mount_unusable", "/mnt/nothing")}),
        ("read-only", 2, {("mount_unusable", THREE)}),
        ("snoozed", 0, set()),
        ("together-1", 2, {("mount_hung", THREE), ("mount_hung", FOUR)}),
        ("together-2", 2, {("mount_hung", THREE), ("mount_hung", FOUR)}),
        ("again", 0, set()),
        ("slow", 0, set()),
        *((f"hung-{i}", 2, {("mount_hung", THREE), ("mount_hung", FOUR)}) for i in range(1, 21)),
        *((f"busy-{i}", 0, set()) for i in range(1, 6)),
    ):
        got = result(folder, name)
        need((got[0], got[3]) == (code, findings), name, "is", got)
    hung = [result(folder, f"hung-{i}") for i in range(1, 21)]
    times = [h[1] for h in hung]
    # A guest's host may be busy with other guests.
    need(median(times) < 2000 and max(times) < 4000, "it answers late:", times)
    need(max(h[2] for h in hung) <= 2, "it leaves processes:", [h[2] for h in hung])
    need(not (folder / "stuck").read_text(), "it leaves", (folder / "stuck").read_text())
    return f"answers in {median(times):.0f} ms, at most {max(times)} ms; left: {max(h[2] for h in hung)}"
