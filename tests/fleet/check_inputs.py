#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that an agent has each of the series of the rehearsal's fleet, by name and labels."""
import contextlib
import io
import pathlib
import re
import subprocess
import tempfile

import generate

SAMPLE = pathlib.Path(__file__).parents[2] / "build/tests/write_sample"


def check(condition, what):
    if not condition:
        raise SystemExit(f"check_inputs.py: {what}")


def fleet(path, text, noise="absences 0\n"):
    path.write_text(text)
    noises = path.with_name("noise")
    noises.write_text(noise)
    with contextlib.redirect_stdout(io.StringIO()):
        return generate.Fleet(nodes=8, days=3, seed=1, incidents=path, noise=noises)


def forms(names):
    """Of series: their names with their labels' names."""
    return {(name.partition("{")[0], *sorted(re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', name))) for name in names}


def check_series(path):
    """A file of write_sample has all families: those of a fleet in which each kind of fault occurs are among them."""
    unused = {state for state in generate.FAULTS.at if state.startswith("xid")} ^ {
        f"xid{code}" for code in {13, *generate.LEMON_XIDS, *(xid for _, xid in generate.FAILURES.values())}}
    check(not unused, f"these are recorded and do not occur, or occur and are not recorded: {unused}")
    file = subprocess.run([SAMPLE, "openmetrics", "node"], capture_output=True, check=True, text=True).stdout
    real = forms(line for line in file.splitlines() if line.startswith("xidscope_"))
    ours = fleet(path, "1 0-7 storage_dead 1 0 1\n1.5 1 drift 3 0 1\n1.5 1 lemon 9 0 4\n",
                 "program_errors 9\npcie_replays 9\n")
    made = forms(name for node in range(2) for _, name, _, there in ours.series(node)
                 if name.startswith("xidscope_") and there.any())
    check(len(made) > 15 and made <= real, f"no agent has these series, with these labels: {sorted(made - real)}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "file"
        check_series(path)
    print("the fleet's series are an agent's")


main()
