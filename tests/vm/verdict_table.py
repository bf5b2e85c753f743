#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints the verdicts that docs/VERDICT.md sums up, from the results of guests: verdict_table.py build/vm/KERNEL-timed*

A set-up that did not run has no row.
"""
import pathlib
import sys

from judge.reading import fio_rate, session_verdict

SET_UPS = {  # the session's file: the set-up, what limits it by construction, the server of several
    "verdict/slot": ("5 slots; 1, 2, 32 wanted", "slot"),
    "verdict/session": ("4 session slots", "session"),
    "verdict/undecided": ("4 slots; 32 wanted", "slot"),
    "verdict/workers": ("8 slots, 9 threads, slow disk", "slot/server"),
    "verdict/serial": ("4 slots, 1 thread, slow disk", "server"),
    "verdict/mixed": ("5 slots, idle NFSv4.1 mount", "slot"),
    "verdict/changed": ("5 slots, raised since", "slot"),
    "verdict/server": ("80 ms away", "latency"),
    "verdict/storage": ("disk of 20 ms", "server"),
    "verdict/window": ("window of 64 KiB, 20 ms", "network"),
    "verdict/link": ("reads, 40 Mbit/s", "network"),
    "verdict/narrow": ("small reads, 0.3 Mbit/s", "network"),
    "verdict/send": ("writes, 40 Mbit/s", "send"),
    "verdict/push": ("few writes, 40 Mbit/s", "network"),
    "verdict/resend": ("4 % lost", "resend"),
    "verdict/application": ("one small read, 3 ms away", "latency"),
    "verdict/readahead": ("buffered reads, 128 KiB ahead", "readahead"),
    "verdict/client_cpu": ("client without CPU", "client_cpu"),
    "verdict/hung": ("server stops", "hung"),
    "verdict/soft": ("soft mount, silent", "hung"),
    "silent-server/stall": ("silent for 12 s", "stall"),
    "silent-server/since-btf-1": ("silent 1 s before", "hung", "10.0.4.1"),
    "silent-server/since-btf-12": ("12 s before", "hung", "10.0.4.1"),
    "silent-server/since-btf-50": ("50 s before", "hung", "10.0.4.1"),
}


def said(file, server=""):
    verdict = session_verdict(file, server)
    return f"{verdict['bound_by']}, {verdict['confidence']}"


def begun_before(folders, name):
    """What sessions of 10 s said that began during the load, by each source."""
    files = [file for folder in folders for file in sorted(folder.glob(f"begun-before/{name}-*-10-*.json"))]
    by = {source: dict.fromkeys(said(file) for file in files if f"-{source}-" in file.name)
          for source in ("btf", "tracepoints")}
    others = [verdict for verdict in by["tracepoints"] if verdict not in by["btf"]]
    return "; ".join(list(by["btf"]) + [f"{verdict} (tracepoints)" for verdict in others])


def row(folders, folder, name, set_up, truth, server=""):
    file = folder / f"{name}.json"
    verdict = session_verdict(file, server)
    most, expected = verdict["gain_at_most"], verdict["gain_expected"]
    gain = (f"{expected:.2f} " if expected else "") + (f"(≤{most:.2f})" if most else "")
    before, after = (folder / f"{name}-{when}.fio.json" for when in ("before", "after"))
    gain = f"{gain}, {fio_rate(after) / fio_rate(before):.2f}" if after.exists() else ""
    same = said(file, server)
    late = begun_before(folders, name.removeprefix("verdict/")).replace(same, "=")
    return f"| {set_up} | {truth} | {same} | {late} | {gain} |".replace("  ", " ")


def main():
    folders = [pathlib.Path(folder) for folder in sys.argv[1:]]
    print("| set-up | truth | verdict | begun before | gain, measured |\n|---|---|---|---|---|")
    for name, set_up in SET_UPS.items():
        for folder in folders:
            if (folder / f"{name}.json").exists():
                print(row(folders, folder, name, *set_up))


main()
