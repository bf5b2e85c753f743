#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves what real_trace.py says of a made-up trace: of 200 nodes in 90 days, six fail every ten days, and nine others
fail at once, three times. No node is named if the faults are moved to nodes by chance.
"""
import json
import pathlib
import subprocess
import tempfile

EXPECTED = (
    "200 nodes, 90 days, 75 faults: 4.2 failures in 1,000 node-days",
    "MTTF of all nodes 28.8 h, 45.0 h without failures of many nodes at once",
    "3 incidents, 5 times the mean: 6 nodes 6 times, 6 of 6, 30; ",
)
SHUFFLED = EXPECTED[:1] + ("3 incidents, 5 times the mean: 0 nodes 0 times, 0 of 0, 0; ",)


def trace():
    starts = [(node * 0.3 + 10 * k + 2, f"lemon{node}", 0.1 * k) for node in range(6) for k in range(8)]
    starts += [(day + n / 1440 / 9, f"rack{n}", 0.5) for day in (30, 40, 50) for n in range(9)]
    for day, node, duration in starts:
        for kind, time in (("fault_start", day), ("fault_end", day + duration)):
            yield {"node_id": node, "event_time": time, "event_type": kind, "fault_type": {"Class": "made up"}}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace"
        path.write_text(json.dumps(sorted(trace(), key=lambda event: event["event_time"])))
        for options, expected in (((), EXPECTED), (("--shuffle", "1"), SHUFFLED)):
            said = subprocess.run([pathlib.Path(__file__).with_name("real_trace.py"), "--nodes", "200", "--days", "90",
                                   *options, path], capture_output=True, check=True, text=True).stdout
            for line in expected:
                if f"\n{line}" not in f"\n{said}":
                    raise SystemExit(f"check_real_trace.py: {options}: no line '{line}' in:\n{said}")
    print("real_trace.py names the nodes that fail often, none by an event of many, none by chance")


main()
