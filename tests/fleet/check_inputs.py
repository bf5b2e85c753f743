#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that what the rehearsal's files ask for is in the fleet, also where incidents meet, and that an agent has each
of the series that stand for it, by name and labels.
"""
import contextlib
import io
import pathlib
import re
import subprocess
import tempfile

import numpy as np

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


def check_fleet(path):
    ours = fleet(path, "# blanks and tabs\n\t1.0\t0-2,2,7-9  slow_node 3 0 2  # a comment\n"
                       "5 1 lemon 3 0 1\n1.0 8 node_down 1 0 1\n")
    check([i.nodes for i in ours.incidents] == [[0, 1, 2, 7]], "nodes are not those of the line that there are")
    # Always away, but for an incident.
    away = fleet(path, "1.0 3 node_down 1 0 2\n2.0 3 slow_node 4 0 2\n", "absences 1e6\n")
    node = generate.Node(away, 3)
    check(node.target[1440:1560].all() and not node.up[1440:1560].any(), "a node that is away cannot go down")
    check(node.target[2880:3000].all(), "a node that is away cannot be slow")
    both = fleet(path, "2.999 3 gpu_sudden 0 0 9\n1 0-7 storage_dead 1 0 1\n1.02 0-7 storage_dead 1 0 0.2\n")
    series = {name: values for _, name, values, _ in both.series(3)}
    check(series['xidscope_node_health{check="xid_fatal"}'][-1] == 2, "a GPU that fails at the end is well")
    waits = next(values for name, values in series.items() if re.search('oldest.*"pending"', name))
    check(np.all(np.diff(waits[1440:1500]) > 30), "the storage system is not dead for the longer of two times")
    drift = fleet(path, "1.0 3 drift 0 0 2\n").series(3)
    drift = [(name, there) for _, name, _, there in drift if "mount_info" in name]
    check([('nconnect="1"' in name, int(there[1440:1560].sum()) > 100) for name, there in drift] ==
          [(False, False), (True, True)], "a mount that drifts is not otherwise for its time")
    slow = fleet(path, "1.0 3 slow_node 8 0 2\n1.01 0-7 storage_slow 2 0 1\n")
    node = generate.Node(slow, 3)
    busy = next(np.diff(values) for _, name, values, _ in node.series() if re.search('saturated.*"slot"', name))
    check(busy[1480:1500].min() > 59, "a slow node is less slow when the storage system is slow, too")


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
        check_fleet(path)
    print("incidents are in the fleet, and its series are an agent's")


main()
