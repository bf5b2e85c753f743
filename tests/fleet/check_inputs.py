#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that what the rehearsal's files ask for is in the fleet, also where incidents meet; that an agent has each of
the series that stand for it, by name and labels; and that alerts are held against incidents node by node.
"""
import contextlib
import io
import pathlib
import re
import subprocess
import tempfile

import numpy as np

import generate
import rehearsal

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


def check_notifications(path):
    """Eight nodes that go down within a minute are one message; one more, half an hour later, is another."""
    ours = fleet(path, "1.0 0-7 node_down 1 0 1\n")
    down = [(1450 + (node > 3), 1500, {"alertname": "NodeDown", "node": f"node{node:03}"}) for node in range(8)]
    for alerts, expected in ((down, 1), ([*down, (1480, 1500, down[0][2])], 2)):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            rehearsal.judge(ours, alerts, [])
        check(f", {expected} notifications" in out.getvalue(), f"{len(alerts)} NodeDown: {out.getvalue()}")


def verdict(ours, *alerts):
    """The last line, of these alerts: (first step, last, name, node)."""
    fired = [(first, last, {"alertname": name, "node": f"node{node:03}"}) for first, last, name, node in alerts]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        rehearsal.judge(ours, sorted(fired, key=lambda alert: alert[0]), [])
    return out.getvalue().splitlines()[-1]


def check_judge(path):
    both = fleet(path, "1.0 3,4 gpu_thermal 12 2 2\n")
    cases = (
        ((1440, 1460, "NodeUnfit", 3), "found 0 of 1, early 0, false per day 0.00, lemons none"),
        ((1440, 1460, "NodeUnfit", 4), "found 1 of 1, early 0, false per day 0.00, lemons none"),
        ((1380, 1460, "NodeDeviates", 3), "found 1 of 1, early 0, false per day 0.00, lemons none"),
        ((1390, 1460, "NodeDeviates", 4), "found 1 of 1, early 1, false per day 0.00, lemons none"),
        ((1390, 1460, "NodeDeviates", 5), "found 1 of 1, early 1, false per day 0.33, lemons none"),
    )
    alerts = []
    for alert, expected in cases:
        alerts.append(alert)
        check(verdict(both, *alerts) == expected, f"after {alert}: {verdict(both, *alerts)}")
    sudden = fleet(path, "1.0 3 gpu_thermal 12 0 2\n1.02 3 gpu_sudden 0 0 2\n")
    check(verdict(sudden, (1440, 1488, "NodeUnfit", 3)) == "found 2 of 2, early 0, false per day 0.00, lemons none",
          "an alert that has not ended does not stand for the next incident")
    thrice = fleet(path, "0.5 3 node_down 1 0 2\n1.5 3 gpu_sudden 0 0 2\n2.5 3,4 node_down 1 0 2\n")
    check("false per day 0.33" in verdict(thrice, (4300, 4319, "LemonNode", 3), (4300, 4319, "LemonNode", 4)),
          "LemonNode is not judged by how often the node fails in the file")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "file"
        check_series(path)
        check_fleet(path)
        check_judge(path)
        check_notifications(path)
    print("incidents are in the fleet, its series are an agent's, and alerts are held against incidents")


main()
