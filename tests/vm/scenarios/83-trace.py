# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.reading import read_json


@judgement
def trace_names_the_limit(folder):
    report = (folder / "report.txt").read_text()
    lines = re.findall(r"^\d\d:\d\d:\d\d 127\.0\.0\.1 ", report, re.M)
    need(2 <= len(lines) <= 5, len(lines), "lines in 4 seconds")
    need(re.search(r"^READ +\d+ .* slot [5-9]\d ", report, re.M), report)
    need(re.search(r"^- 127\.0\.0\.1: bound by slot,", report, re.M), report)


@judgement
def trace_names_the_lock_of_a_file(folder):
    report = (folder / "lock.txt").read_text()
    found = re.search(r"bound by application, .* (\d+) tasks wait for the lock of a file in /mnt/trace", report)
    need(found and 25 <= int(found[1]) <= 31, report)


@judgement
def a_hung_mount_and_a_fault_are_in_view(folder):
    live, summary = (folder / "session.txt").read_text().split("\nSummary\n")
    joined = re.sub(r"\n {9}(?! )", " ", live)
    hangs = r"127\.0\.0\.1 hangs: a call is not answered \("
    need(re.search(hangs, joined), joined[-3000:])
    need(joined.count("hangs: ") == 1 and " answers again after " in joined, "not its begin and end:", joined[-3000:])
    row = r"^\S+ 127\.0\.0\.1 .* [1-9]\S* s$"
    need(re.search(row, live, re.M), "the row does not hang", live[-3000:])
    need("Xid 79 (fatal)" in joined, "no Xid between the lines")
    need("No NFS call ended" not in summary, "a hung mount reads as none")
    for what in ("GPU 0000:c1:00.0: Xid 79 (fatal)", "127.0.0.1 hangs: a call is not answered", "1 answers again"):
        need(what in summary, "the events lack", what)


@judgement
def slow_calls_have_process_mount_and_phases(folder):
    session = read_json(folder / "session.json")
    slow = session["slow_calls"]
    if session["source"] != "btf":
        need(not slow, "slow calls without source btf")
        return "only source btf reports them"
    need(0 < len(slow) <= 100, len(slow), "slow calls")
    need(all(c["seconds"] >= 3 and abs(sum(c["phases"].values()) - c["seconds"]) < 1e-6 for c in slow), slow[:3])
    need(all(c["mount"] == "/mnt/trace" for c in slow), slow[:3])
    need(any(c["comm"] for c in slow), slow[:3])
    need([c["seconds"] for c in slow] == sorted((c["seconds"] for c in slow), reverse=True), "not in order")
    return f"{len(slow)}, the slowest {slow[0]}"


def without_commands(path):
    """A replay prints none: the mounts of this machine may be others by then."""
    text = re.sub(r'"commands":\[("([^"\\]|\\.)*",?)*\],', "", path.read_text())
    return re.sub(r"^    (sysctl|#|umount|findmnt) .*\n", "", text, flags=re.M)


@judgement
def a_replay_gives_the_same_again(folder):
    for name in ("json", "html", "txt"):
        live, replay = (without_commands(folder / f"{run}.{name}") for run in ("session", "replay"))
        need(live == replay, name, "differs")
    need(not (folder / "replay.log").read_text(), (folder / "replay.log").read_text())
    return f"{(folder / 'session.rec').stat().st_size} bytes"
