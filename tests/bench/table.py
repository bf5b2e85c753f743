#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes tables (Markdown) and figures (JSON) of what tests/bench/guest.sh left, and judges them by the budgets.

    table.py OUT FIGURES.json TABLE.md
"""
import collections
import datetime
import json
import pathlib
import statistics
import sys

OBSERVERS = {
    "agent": "xidscope run",
    "file": "xidscope run --sunrpc-btf",
    "tracepoints": "xidscope run --source tracepoints",
    "trace": "xidscope trace",
    "bpftrace": "bpftrace, same histograms",
    "nfsdist": "nfsdist (libbpf-tools)",
}
WORKLOADS = {
    "read-v3-1": "4 KiB reads, v3, depth 1",
    "read-v3-8": "4 KiB reads, v3, depth 8",
    "read-v3-64": "4 KiB reads, v3, depth 64",
    "read-v4.2-1": "4 KiB reads, v4.2, depth 1",
    "read-v4.2-8": "4 KiB reads, v4.2, depth 8",
    "read-v4.2-64": "4 KiB reads, v4.2, depth 64: most wait for a session slot",
    "slot-v3-64": "4 KiB reads, v3, depth 64 on 4 slots: all wait",
    "write-v3": "1 MiB writes and fsync, v3 (per MiB)",
    "write-v4.2": "1 MiB writes and fsync, v4.2 (per MiB)",
}
# Reads and writes before the clock starts, which the run statistics cover, too.
WARM_READS, WARM_WRITES = 500, 1


def lines(path):
    return [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []


def times(out):
    """Per workload and setting: nanoseconds per call of each repeat; None collects all passes of "none"."""
    result = collections.defaultdict(lambda: collections.defaultdict(list))
    for setting, pass_, workload, _, ns, calls, *_ in lines(out / "bench.tsv"):
        if setting == "warm":
            continue
        result[workload][setting].append(int(ns) / int(calls))
        if setting == "none":
            result[workload]["none " + pass_].append(int(ns) / int(calls))
    return result


def happened(out):
    """Per workload and setting: context switches and TCP segments per call, the median repeat. They include those of
    the calls before the clock starts. If they differ, calls have taken another way, with and without an observer."""
    result = collections.defaultdict(lambda: collections.defaultdict(list))
    for setting, _, workload, _, _, calls, *counts in lines(out / "bench.tsv"):
        calls = int(calls) + (WARM_READS if workload[0] in "rs" else WARM_WRITES)
        result[workload][setting].append([int(count) / calls for count in counts])
    return {workload: {setting: [round(statistics.median(column), 2) for column in zip(*repeats)]
                       for setting, repeats in by.items()} for workload, by in result.items()}


def programs(out, workload, calls):
    """Per program of the agent: runs per call and nanoseconds per run, of the repeat with the fewest interrupts."""
    result = {}
    for after_path in sorted(out.glob(f"stats-{workload}-[0-9]-after.json")):
        before_path = after_path.with_name(after_path.name.replace("after", "before"))
        before, after = ({p["id"]: p for p in json.loads(path.read_text())} for path in (before_path, after_path))
        for number, program in after.items():
            old = before.get(number, {})
            runs = program.get("run_cnt", 0) - old.get("run_cnt", 0)
            if not runs:
                continue
            spent = (program.get("run_time_ns", 0) - old.get("run_time_ns", 0)) / runs
            best = result.get(program["name"])
            if not best or spent < best["instructions_per_run"]:
                result[program["name"]] = {"runs_per_call": round(runs / calls, 3),
                                           "instructions_per_run": round(spent, 1)}
    return result


def table(head, rows):
    rows = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows) + "\n"


def megabytes(n):
    return f"{int(n) / 1e6:.1f} MB"


def main():
    out, figures_path, table_path = map(pathlib.Path, sys.argv[1:4])
    measured = times(out)
    settings = [s for s in OBSERVERS if any(s in by for by in measured.values())]
    release = (out / "release").read_text().strip()
    figures = {
        "date": datetime.date.today().isoformat(),
        "kernel": release,
        "workloads": {},
        "programs": {},
        "cost": collections.defaultdict(dict),
    }
    rows, noise = [], []
    for workload, by in measured.items():
        base = statistics.median(by["none"])
        passes = [statistics.median(v) for k, v in by.items() if k.startswith("none ")]
        noise.append((max(passes) - min(passes)) / base)
        entry = figures["workloads"][workload] = {"base": round(base, 1),
                                                  "base_of_passes": [round(p, 1) for p in passes]}
        row = [WORKLOADS[workload], f"{base:,.0f}"]
        for setting in settings:
            added = statistics.median(by[setting]) - base
            lost = added / (base + added) * 100
            entry[setting] = {"added": round(added, 1), "time_percent": round(added / base * 100, 2),
                              "throughput_lost_percent": round(lost, 2)}
            row.append(f"{added:+,.0f}")
        rows.append(row)
    row = ["throughput lost, %", ""]
    for setting in settings:
        lost = [entry[setting]["throughput_lost_percent"] for entry in figures["workloads"].values()]
        row.append(f"{min(lost):z.1f} to {max(lost):z.1f}")
    rows.append(row)
    text = f"Measured {figures['date']} on Linux {release} (`make bench`). "
    text += "Instructions per call with nothing attached, and those that each observer adds:\n\n"
    text += table(["work", "nothing"] + [OBSERVERS[s] for s in settings], rows)

    figures["happened"] = happened(out)
    for workload in measured:
        if not (out / f"stats-{workload}-1-after.json").exists():
            continue
        calls = int(next(row[5] for row in lines(out / "bench.tsv") if row[2] == workload))
        calls += WARM_WRITES if workload.startswith("write") else WARM_READS
        figures["programs"][workload] = programs(out, workload, calls)

    for setting, what, value in lines(out / "cost.tsv"):
        if value.strip():
            figures["cost"][setting][what] = int(float(value))
    rows = []
    for setting in settings:
        c = figures["cost"][setting]
        start = f"{c['attached_ms']:,} ms" if "attached_ms" in c else "as above"
        rows.append([OBSERVERS[setting], megabytes(c["resident_bytes"]), megabytes(c["map_bytes"]), start])
    text += "\nMemory with one CPU, and the time from the start to the last attachment at one instruction per ns:\n\n"
    text += table(["observer", "resident", "maps", "start"], rows)

    if "agent" in settings:
        by = {w: figures["workloads"][w]["agent"] for w in figures["workloads"]}
        cost = figures["cost"]["agent"]
        in_programs = {w: sum(p["runs_per_call"] * p["instructions_per_run"] for p in ps.values())
                       for w, ps in figures["programs"].items()}
        cpu = cost["minute_ns"] / 60e9 * 100
        budgets = [
            ("instructions per call in the programs, none waits (worst of v3 and v4.2)",
             max(in_programs["read-v3-1"], in_programs["read-v4.2-1"]), 900),
            ("... each waits for a slot", in_programs["slot-v3-64"], 2500),
            ("instructions per call in all, none waits (worst of v3 and v4.2)",
             max(by["read-v3-1"]["added"], by["read-v4.2-1"]["added"]), 900),
            ("... each waits for a slot", by["slot-v3-64"]["added"], 2500),
            ("... most wait for a session slot", by["read-v4.2-64"]["added"], 2500),
            *((f"time at depth {depth}, %", max(by[f"read-v{v}-{depth}"]["time_percent"] for v in ("3", "4.2")), most)
              for depth, most in ((1, 2), (8, 1))),
            ("resident memory, MB", cost["resident_bytes"] / 1e6, 4),
            (f"the agent's CPU at 15 s, {cost['minute_samples']:,} samples, % at one instruction per ns", cpu, 0.01),
            ("start to attached, ms at one instruction per ns", cost["attached_ms"], 300),
        ]
        figures["budgets"] = [{"what": w, "value": round(v, 2), "budget": b, "met": v <= b} for w, v, b in budgets]
        text += "\n" + table(["budget", "measured", "at most", ""], [
            [w, f"{v:,.4g}" if v < 100 else f"{v:,.0f}", f"{b:,}", "met" if v <= b else "**missed**"]
            for w, v, b in budgets])
    figures["noise_percent"] = round(max(noise) * 100, 2)
    text += f"\nWith nothing attached, the passes of one run differ by at most {max(noise) * 100:.1f} %.\n"

    figures_path.write_text(json.dumps(figures, indent=1) + "\n")
    table_path.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
