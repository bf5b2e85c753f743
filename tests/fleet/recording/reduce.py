#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reduces the files that an agent in a guest wrote (guest.sh) to a table: reduce.py nfs|faults FOLDER

A line has a series and its value in each interval; the first line says in which state the node was. An interval stands
for a minute (SCALE times as long), and the values are those of that minute: of a counter what it has added, of a gauge
its value, "-" where the file lacks the series. Calls and their times are scaled, and how long a dead server's calls
wait; what comes once is not: a fault, a retransmit after a timeout. A time is in seconds since the state began.
"""
import pathlib
import re
import sys

SECONDS, MINUTE = 5, 60
SCALE = MINUTE / SECONDS
PHASES = "session|slot|send|delay|resend|setup|rtt|finish"
# What is kept of the files: series, how a value becomes that of a minute.
NFS = (
    (r'rpc_op_(calls|seconds)_total{.*op="(READ|WRITE|GETATTR)"}', "rate"),
    (r'rpc_phase_seconds_total{.*phase="(%s)"}' % PHASES, "rate"),
    (r"rpc_seconds_count{", "rate"),
    (r'rpc_(received_bytes_total{.*kind="read"|sent_bytes_total{.*kind="write"})', "rate"),
    (r"rpc_saturated_seconds_total{", "rate"),
    (r"rpc_retransmits_total{", "count"),
    (r"checkpoint_episode_(seconds|bytes)_sum{", "rate"),
    (r"rpc_oldest_waiter_seconds{", "age"),
    (r"rpc_(limit|server_info){", "gauge"),
)
FAULTS = (
    (r"gpu_(xid_errors|driver_errors)_total{", "count"),
    (r"kernel_events_total{", "count"),
    (r"gpu_xid_last_timestamp_seconds{", "time"),
    (r"node_health{", "gauge"),
    (r"hook_attached{hook=\"kernel_log\"}", "gauge"),
    (r"build_info{", "gauge"),
)


def read(path):
    """Of a file: when it was written, the node's state, and its samples."""
    written, state = path.name.split("-")
    samples = dict(line.rsplit(" ", 1) for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return float(written), state, {name: float(value) for name, value in samples.items()}


def value(kind, name, before, after, since):
    """The series' value in the interval between two files, as text."""
    (start, _, old), (end, state, new) = before, after
    if name not in new:
        return "-"
    if kind == "rate":
        found = (new[name] - old.get(name, 0)) * MINUTE / (end - start)
    elif kind == "count":
        found = new[name] - old.get(name, 0)
    elif kind == "time":
        found = (new[name] - since) * SCALE
    elif kind == "age":
        found = new[name] * (SCALE if state == "dead" else 1)
    else:
        found = new[name]
    return f"{found:.4g}" if abs(found) < 1e4 else f"{found:.0f}"


def table(files, wanted):
    """The lines of one table: of the states that have these series."""
    names = sorted({name for _, _, samples in files for name in samples})
    kinds = {name: kind for name in names for pattern, kind in wanted if re.match("xidscope_" + pattern, name)}
    intervals, began = [], None
    for before, after in zip(files, files[1:]):
        if after[1] != before[1]:
            began = before[0]
        if after[1] not in ("first", "rest"):
            intervals.append((before, after, began))
    yield "state", [after[1] for _, after, _ in intervals]
    for name, kind in kinds.items():
        values = [value(kind, name, *interval) for interval in intervals]
        if set(values) - {"-"} != {"0"} or "retransmits" in name:
            yield name, values


def main():
    wanted = {"nfs": NFS, "faults": FAULTS}[sys.argv[1]]
    print("# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
          "# Measured by `make fleet-recordings`; reduce.py says what the lines mean.")
    for name, values in table([read(path) for path in sorted(pathlib.Path(sys.argv[2]).glob("[0-9]*-*"))], wanted):
        print(name, " ".join(values), sep="\t")


main()
