#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints the table of docs/VERDICT.md from the results of a guest: verdict_table.py build/vm/KERNEL

A set-up that did not run has no row.
"""
import json
import pathlib
import sys

SET_UPS = {  # the session's file: the set-up, what limits it by construction
    "verdict/slot": ("5 slots, 80 ms away; 1, 2, 32 wanted", "slot"),
    "verdict/session": ("4 session slots, the same", "session"),
    "verdict/undecided": ("4 slots, 32 wanted from the start", "slot"),
    "verdict/workers": ("8 slots, 9 threads, a disk of 20 ms", "slot, nearly server"),
    "verdict/serial": ("replies one by one behind 4 slots", "server"),
    "verdict/mixed": ("5 slots beside an idle NFSv4.1 mount", "slot"),
    "verdict/changed": ("5 slots, raised to 64 since the mount", "slot: mount again"),
    "verdict/server": ("80 ms for a reply, 8 wanted", "server"),
    "verdict/storage": ("a disk of 20 ms", "server"),
    "verdict/window": ("receive window of 64 KiB, 20 ms away", "network"),
    "verdict/link": ("8 reads at once over a link of 40 Mbit/s", "network"),
    "verdict/send": ("writes over such a link", "send"),
    "verdict/resend": ("4 % of the packets lost", "resend"),
    "verdict/application": ("one small read after the other", "application"),
    "verdict/client_cpu": ("a ninth of a CPU for the client", "client_cpu"),
    "verdict/hung": ("the server stops", "hung"),
    "verdict/soft": ("the same, soft mount of 1 s", "hung"),
    "silent-server/stall": ("silent for 12 s, then busy", "the stall, then any"),
    "silent-server/late-btf-7": ("silent since before the session", "hung"),
    "begun-before/slot-btf-2": ("2 slots, 64 wanted, 8 s before; after 2 s", "slot"),
    "begun-before/slot-btf-10": ("after 10 s", "slot"),
    "begun-before/slot-tracepoints-10": ("after 10 s, tracepoints", "slot"),
    "begun-before/session-btf-10": ("4 session slots; after 10 s", "session"),
    "begun-before/send-btf-2": ("checkpoint at 40 Mbit/s, 12 s before; after 2 s", "send"),
    "begun-before/send-btf-10": ("after 10 s", "send"),
}


def rate(file):
    job = json.loads(file.read_text())["jobs"][0]
    return job["read"]["iops"] + job["write"]["iops"]


def row(folder, name, set_up, truth):
    servers = json.loads((folder / f"{name}.json").read_text())["servers"]
    verdict = max(servers, key=lambda s: s["verdict"]["numbers"]["calls"])["verdict"]
    most, expected = verdict["gain_at_most"], verdict["gain_expected"]
    gain = f"{expected:.2f}, at most {most:.2f}" if expected else f"at most {most:.2f}" if most else ""
    before, after = (folder / f"{name}-{when}.fio.json" for when in ("before", "after"))
    measured = f"{rate(after) / rate(before):.2f}" if after.exists() else ""
    stall = f" (stall of {verdict['numbers']['stall_seconds']:.0f} s)" if verdict["numbers"]["stall_seconds"] else ""
    said = f"{verdict['bound_by']}, {verdict['confidence']}{stall}"
    return f"| {set_up} | {truth} | {said} | {gain} | {measured} |"


def main():
    folder = pathlib.Path(sys.argv[1])
    print("| set-up | truth | verdict | gain predicted | measured |\n|---|---|---|---|---|")
    for name, (set_up, truth) in SET_UPS.items():
        if (folder / f"{name}.json").exists():
            print(row(folder, name, set_up, truth))


main()
