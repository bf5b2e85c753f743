#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Judges what guest.sh has left: verdict.py FOLDER SECONDS CALLS MOUNTS. Prints a line for each test.

The agent's counts are compared with mountstats (of the mounts that stay) and with what the load itself has counted.
"""
import sys
from pathlib import Path

from judge import need
from judge.checks import check_additive, check_histograms, check_no_drops
from judge.reading import Metrics, difference, mountstats_all
from judge.runner import outcome

STAYING = ("127.0.0.1", "10.0.9.1")
# Of a client's lease and session, not of a mount: mountstats leaves them out.
NOT_IN_MOUNTSTATS = ("SEQUENCE", "NULL")
# What may be more at the end: the agent's heap has its own ways to grow by a page or two.
SPARE_KB = 512


def fields(line):
    """"NAME VALUE NAME VALUE..."; of objects, three values."""
    words = line.split()
    at = words.index("objects")
    words[at + 1:at + 4] = ["/".join(words[at + 1:at + 4])]
    return dict(zip(words[::2], words[1::2]))


def figures(folder):
    lines = (line.split(" ", 1) for line in (folder / "figures").read_text().split("\n") if line)
    return {name: value for name, value in lines}


def load_counted(folder, what):
    last = [line for line in (folder / f"{what}.made").read_text().split("\n") if line.startswith(what)][-1]
    words = last.split()
    return {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}


def of_servers(metrics, name, staying, **labels):
    return sum(value for key, value in metrics.each(name, **labels).items()
               if (dict(key)["server"].split("@")[0] in STAYING) == staying)


def lasted(wanted):
    def check(folder):
        passed = int(figures(folder)["passed"])
        calls, mounts = load_counted(folder, "calls"), load_counted(folder, "mounts")
        note = f"{passed} s, {calls['calls']} calls, {mounts['mounts']} mounts"
        need(passed >= wanted[0] and calls["calls"] >= wanted[1] and mounts["mounts"] >= wanted[2], "only", note)
        return note
    return check


def counts_equal_mountstats(folder):
    ours = difference(Metrics(folder / "begin.prom"), Metrics(folder / "end.prom"))
    old, new = (mountstats_all(folder / f"{point}.mountstats") for point in ("begin", "end"))
    calls = 0
    for op in set(new) - set(NOT_IN_MOUNTSTATS):
        for field, family in (("ops", "rpc_op_calls_total"), ("sent", "rpc_sent_bytes_total"),
                              ("received", "rpc_received_bytes_total"), ("errors", "rpc_errors_total")):
            theirs = new[op][field] - old[op][field]
            counted = of_servers(ours, family, True, op=op)
            need(theirs == counted, op, field, ": mountstats has", theirs, "and we", counted)
            calls += theirs if field == "ops" else 0
    return f"{calls} calls"


def counts_equal_the_loads_own(folder):
    ours = difference(Metrics(folder / "begin.prom"), Metrics(folder / "end.prom"))
    mounts = load_counted(folder, "mounts")
    need(mounts["failed"] == 0, mounts["failed"], "mounts failed: see mounts.made")
    for op, count in (("MKDIR", mounts["v3"]), ("RMDIR", mounts["v3"]),
                      ("CREATE", mounts["v4"]), ("REMOVE", mounts["v4"])):
        # A call that the server refuses is made again.
        counted = of_servers(ours, "rpc_op_calls_total", False, op=op)
        counted -= of_servers(ours, "rpc_errors_total", False, op=op)
        need(counted == count, "the mounts made", count, op, "and we have", counted)
    calls = load_counted(folder, "calls")["calls"]
    counted = of_servers(ours, "rpc_op_calls_total", True, op="GETATTR")
    counted -= of_servers(ours, "rpc_errors_total", True, op="GETATTR")
    # A file that is opened has its attributes asked for, too.
    need(calls <= counted <= calls + 100, "the load made", calls, "calls and we have", counted)
    check_no_drops(ours)
    check_histograms(ours)
    check_additive(ours)
    return f"{mounts['v3']} v3, {mounts['v4']} v4"


def nothing_has_grown(folder):
    found = figures(folder)
    early, late = fields(found["early"]), fields(found["late"])
    need(early["objects"] == late["objects"], "maps, programs, links:", early["objects"], "then", late["objects"])
    for name in ("map_bytes", "processes", "transports"):
        need(int(late[name]) <= int(early[name]), name, ":", early[name], "then", late[name])
    grown = int(late["resident_kb"]) - int(early["resident_kb"])
    need(grown <= SPARE_KB, grown, "kB of memory more")
    return ", ".join(f"{name} {early[name]} then {late[name]}" for name in late if not name.startswith("cpu"))


def the_agent_was_right_all_the_time(folder):
    """By the program that watched it: whole files, no counter back, each fault once, a clean end."""
    need(figures(folder)["agent"] == "0", (folder / "agent").read_text())
    return (folder / "agent").read_text().strip().replace("\t", " ").replace("\n", "; ")


def main():
    folder = Path(sys.argv[1])
    lines = [outcome(name, function, folder, "soak") for name, function in (
        ("lasted as long, with as many calls and mounts", lasted([int(word) for word in sys.argv[2:5]])),
        ("counts equal mountstats", counts_equal_mountstats),
        ("counts equal those of the load", counts_equal_the_loads_own),
        ("nothing has grown", nothing_has_grown),
        ("every file was whole, and each fault counted once", the_agent_was_right_all_the_time))]
    print("\n".join(lines))
    sys.exit(any(line.startswith("FAIL") for line in lines))


main()
