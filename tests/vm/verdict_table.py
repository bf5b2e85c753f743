#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints the table of docs/VERDICT.md from the results of a guest: verdict_table.py build/vm/KERNEL

A set-up that did not run has no row.
"""
import pathlib
import sys

from judge.reading import fio_rate, session_verdict

SET_UPS = {  # the session's file: the set-up, what limits it by construction
    "verdict/slot": ("5 slots; 1, 2, 32 wanted", "slot"),
    "verdict/session": ("4 session slots", "session"),
    "verdict/undecided": ("4 slots; 32 wanted", "slot"),
    "verdict/workers": ("8 slots, 9 threads, slow disk", "slot/server"),
    "verdict/serial": ("replies one by one, 4 slots", "server"),
    "verdict/mixed": ("5 slots, idle NFSv4.1 mount", "slot"),
    "verdict/changed": ("5 slots, raised since", "slot"),
    "verdict/server": ("80 ms away", "server"),
    "verdict/storage": ("disk of 20 ms", "server"),
    "verdict/window": ("window of 64 KiB, 20 ms", "network"),
    "verdict/link": ("reads, 40 Mbit/s", "network"),
    "verdict/send": ("writes, 40 Mbit/s", "send"),
    "verdict/resend": ("4 % lost", "resend"),
    "verdict/application": ("one small read", "application"),
    "verdict/client_cpu": ("client without CPU", "client_cpu"),
    "verdict/hung": ("server stops", "hung"),
    "verdict/soft": ("soft mount, silent", "hung"),
    "silent-server/stall": ("silent for 12 s", "stall"),
    "silent-server/late-btf-7": ("silent before the session", "hung"),
    "begun-before/slot-btf-2": ("2 slots, begun before, 2 s", "slot"),
    "begun-before/slot-btf-10": ("10 s", "slot"),
    "begun-before/slot-tracepoints-10": ("10 s, tracepoints", "slot"),
    "begun-before/session-btf-10": ("4 session slots, before, 10 s", "session"),
    "begun-before/send-btf-2": ("writes, begun before, 2 s", "send"),
    "begun-before/send-btf-10": ("10 s", "send"),
}


def row(folder, name, set_up, truth):
    verdict = session_verdict(folder / f"{name}.json")
    most, expected = verdict["gain_at_most"], verdict["gain_expected"]
    gain = (f"{expected:.2f} " if expected else "") + (f"(at most {most:.2f})" if most else "")
    before, after = (folder / f"{name}-{when}.fio.json" for when in ("before", "after"))
    gain = f"{gain}, {fio_rate(after) / fio_rate(before):.2f}" if after.exists() else ""
    return f"| {set_up} | {truth} | {verdict['bound_by']}, {verdict['confidence']} | {gain} |"


def main():
    folder = pathlib.Path(sys.argv[1])
    print("| set-up | truth | verdict | gain, measured |\n|---|---|---|---|")
    for name, (set_up, truth) in SET_UPS.items():
        if (folder / f"{name}.json").exists():
            print(row(folder, name, set_up, truth))


main()
