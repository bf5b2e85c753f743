#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the views of `top --batch`, added up over a recording, are the sums of `trace --json`:
top_figures.py JSON VIEW..."""
import json
import re
import sys

UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
TIME = r"(?:([\d.]+) (ns|us|ms|s)|-)"
ROW = re.compile(rf"(\S.*?) +(\d+) +([\d.]+|-) +([\d.]+|-) +{TIME} +([\d.]+|-) +([\d.]+) (?:([a-z]+) (\d+)|-) +{TIME}$")


def rows(file):
    """Each row of each view: its name and figures."""
    for view in open(file, encoding="utf-8").read().split("\n\n"):
        lines = view.splitlines()
        length = float(re.search(r" last ([\d.]+) s until ", view)[1]) if lines else 0
        for line in lines[5:]:
            got = ROW.fullmatch(line)
            if not got:
                sys.exit(f"{file}: this is no row: {line}")
            calls, into, out = (None if got[i] == "-" else float(got[i]) * length for i in (2, 3, 4))
            yield got[1], calls, into, out, float(got[5] or 0) * UNIT[got[6] or "s"], length


def expected(server, view):
    """The calls, bytes and seconds of each row, by the beginning of its name."""
    name = server["name"]
    if view == "servers":
        return {name: server}
    if view == "ops":
        return {f"{o['op']} {name}": o for o in server["ops"]}
    if view == "owners":
        return {f"{o['owner']} {name}": o for o in server["owner_calls"]}
    if view == "both":
        return {f"{b['owner']} {b['mountpoint'] or 'no mount'} {name}:{b['export']}": b
                for b in server["owner_mount_calls"]}
    return {f"{m['mountpoint'] or 'no mount'} {name}:{m['export']}": m for m in server["mount_calls"]}


def main():
    session = json.load(open(sys.argv[1], encoding="utf-8"))
    failed = False
    for view in sys.argv[2:]:
        sums = {}
        for name, calls, into, out, mean, length in rows(view):
            to = sums.setdefault(name.rstrip("~"), [0, 0, 0, 0, 0, 0])
            for i, value in enumerate((calls, into, out, calls * mean, length, length * mean)):
                to[i] = None if None in (value, to[i]) else to[i] + value
        known = {key.replace("\x1b", r"\x1b"): value for server in session["servers"]
                 for key, value in expected(server, view).items()}
        for name, (calls, into, out, seconds, count, means) in sums.items():
            like = [value for key, value in known.items() if key.startswith(name)]
            want = like[0] if like else {"calls": 0, "seconds": 0, "received_bytes": 0, "sent_bytes": 0}
            pairs = [("calls", calls, want["calls"], 1, count / 2),
                     ("seconds", seconds, want["seconds"], 1, means / 2 + 0.02 * want["seconds"]),
                     ("received", into, want.get("received_bytes"), 1e6, 0.05 * count),
                     ("sent", out, want.get("sent_bytes"), 1e6, 0.05 * count)]
            for what, got, right, unit, off in pairs:
                if got is None or right is None:  # the source does not know it
                    if got is not right:
                        print(f"{view}: {name}: {what} are {got}, not {right}")
                        failed = True
                    continue
                right /= unit
                if abs(got - right) > off + 0.01 * right + 0.001:  # of three digits
                    print(f"{view}: {name}: {what} are {got}, not {right}")
                    failed = True
        if not sums:
            print(f"{view}: no row")
            failed = True
    sys.exit(failed)


main()
