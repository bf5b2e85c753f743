#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints a table of what tests/bench/growth-guest.sh left, and judges it: cost per call flat, export linear.

    growth.py OUT
"""
import json
import pathlib
import sys

TITLES = {
    "1-server": "1 server, 1 transport",
    "8-servers": "8 servers",
    "32-servers": "32 servers",
    "16-transports": "1 server, 16 transports",
    "128-transports": "8 servers, 128 transports",
    "60-waiting": "60 tasks waiting for 4 slots",
    "1000-waiting": "1,000 tasks waiting for 4 slots",
}


def spent(out, name):
    """Nanoseconds in the sunrpc programs during a step."""
    total = 0
    before, after = (
        {p["id"]: p for p in json.loads((out / f"{name}-{when}.json").read_text())} for when in ("before", "after")
    )
    for number, program in after.items():
        if program.get("name", "").startswith(("rpc_", "xprt_")):
            total += program.get("run_time_ns", 0) - before.get(number, {}).get("run_time_ns", 0)
    return total


def file_figures(seconds, size, samples):
    return {"export_instructions": round(float(seconds) * 1e9), "file_bytes": int(size), "samples": int(samples)}


def main():
    out = pathlib.Path(sys.argv[1])
    steps = {}
    for line in (out / "growth.tsv").read_text().splitlines():
        name, repeat, calls, seconds, size, samples = line.split("\t")
        # Of the repeats, that in which the fewest interrupts hit the programs.
        per_call = round(spent(out, f"{name}-{repeat}") / int(calls), 1)
        steps[name] = file_figures(seconds, size, samples) | {
            "instructions_per_call": min(per_call, steps.get(name, {}).get("instructions_per_call", per_call))}
    detail = {}
    for line in (out / "detail.tsv").read_text().splitlines():
        name, *figures = line.split("\t")
        detail[name] = file_figures(*figures)

    def file_cells(s):
        return [f"{s['samples']:,}", f"{s['export_instructions'] / 1e6:.2f} ms"]

    rows = [["after reads on", "instructions per call", "with all ops met", "samples", "write",
             "`--detail op`: samples", "write"]]
    for name, s in steps.items():
        if name.endswith("-ops"):
            continue
        other = steps.get(name + "-ops")
        last = other or s
        rows.append([
            TITLES[name], f"{s['instructions_per_call']:.0f}",
            f"{other['instructions_per_call']:.0f}" if other else "-",
            *file_cells(last),
            *(file_cells(detail[name]) if name in detail else ["-"] * 2),
        ])
    print(f"Linux {(out / 'release').read_text().strip()}; instructions in the programs (some 150 are the run "
          "statistics' own), a write at one\ninstruction per nanosecond:\n")
    for i, row in enumerate(rows):
        print("| " + " | ".join(map(str, row)) + " |" + ("" if i else "\n" + "|---" * 7 + "|"))
    failed = []

    def flat(names, percent):
        costs = [steps[n]["instructions_per_call"] for n in names]
        if (max(costs) / min(costs) - 1) * 100 > percent:
            failed.append(f"cost per call is not flat over {', '.join(names)}: {costs}")

    # Two of many addresses may share a place of the cache: calls of one then take a look-up in the map.
    flat(["1-server", "16-transports", "128-transports"], 8)
    flat(["1-server", "8-servers", "32-servers"], 5)
    flat(["1-server", "1-server-ops"], 5)
    flat(["60-waiting", "1000-waiting"], 10)
    few, many = steps["8-servers-ops"], steps["32-servers-ops"]
    for what in "export_instructions", "file_bytes":
        slopes = many[what] / many["samples"], few[what] / few["samples"]
        if slopes[0] > slopes[1] * 1.25:
            failed.append(f"{what} grows faster than the samples: {slopes}")
    return "\n".join(f"FAILED: {line}" for line in failed) or 0


if __name__ == "__main__":
    sys.exit(main())
