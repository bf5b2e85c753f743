#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the percentiles of sessions with fio's logs of the same calls: percentiles.py FOLDER. Prints a table.

fio's time of a block is that of its call, and what the client does before and after: on average the difference of the
means, and at most twice that for the largest blocks, whose pages take longest. A session's percentile is the upper
bound of a bucket. So it is above fio's by less than a bucket, and below it by no more than twice what the client takes.
"""
import json
import math
import pathlib
import sys

BUCKET = 5 / 4  # four buckets of the same width for each doubling


def main():
    failed = False
    print("| blocks | mean, us | the client's, by fio | p50 | fio's | p90 | fio's | p99 | fio's |")
    print("| --- " * 9 + "|")
    for path in sorted(pathlib.Path(sys.argv[1]).glob("v*.json")):
        version, _, name = path.stem.partition("-")
        op = next(op for server in json.loads(path.read_text())["servers"] for op in server["ops"]
                  if op["op"].lower() == name)
        lines = path.with_name(f"{path.stem}_lat.1.log").read_text().splitlines()
        times = sorted(float(line.split(",")[1]) / 1e9 for line in lines)
        client = sum(times) / len(times) - op["mean"]
        row = [f"{len(times)} {name}s, {version}", f"{op['mean'] * 1e6:.0f}", f"+{client * 1e6:.0f}"]
        right = op["calls"] == len(times)
        for label, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            fio = times[math.ceil(share * len(times)) - 1]
            right &= fio - 2 * client <= op[label] <= fio * BUCKET
            row += [f"{op[label] * 1e6:.0f}", f"{fio * 1e6:.0f}"]
        print("| " + " | ".join(row) + " |" + ("" if right else " WRONG"))
        failed |= not right
    return failed


if __name__ == "__main__":
    sys.exit(main())
