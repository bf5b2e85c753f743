#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints tables of what tests/bench/guest.sh left, and its budgets on standard error: table.py OUT"""
import collections
import datetime
import json
import pathlib
import statistics
import sys

OBSERVERS = {
    "agent": "xidscope run",
    "off": "xidscope run --owners off",
    "file": "xidscope run --sunrpc-btf",
    "tracepoints": "xidscope run --source tracepoints",
    "trace": "xidscope trace",
    "files": "xidscope trace --files",
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
# Reads before the clock starts, which the run statistics cover as well.
WARM_READS = 500


def lines(path):
    return [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []


def times(out):
    """Per workload and setting: nanoseconds per call of each repeat; None collects all passes of "none"."""
    result = collections.defaultdict(lambda: collections.defaultdict(list))
    for setting, pass_, workload, _, ns, calls in lines(out / "bench.tsv"):
        if setting == "warm":
            continue
        result[workload][setting].append(int(ns) / int(calls))
        if setting == "none":
            result[workload]["none " + pass_].append(int(ns) / int(calls))
    return result


def in_programs(out, workload, calls):
    """Nanoseconds per call in the agent's programs: of each that of the repeat with the fewest interrupts."""
    runs_per_call, least = {}, {}
    for after_path in sorted(out.glob(f"stats-{workload}-[0-9]-after.json")):
        before_path = after_path.with_name(after_path.name.replace("after", "before"))
        before, after = ({p["id"]: p for p in json.loads(path.read_text())} for path in (before_path, after_path))
        for number, program in after.items():
            old = before.get(number, {})
            runs = program.get("run_cnt", 0) - old.get("run_cnt", 0)
            if not runs:
                continue
            spent = (program.get("run_time_ns", 0) - old.get("run_time_ns", 0)) / runs
            name = program["name"]
            if name not in least or spent < least[name]:
                runs_per_call[name], least[name] = round(runs / calls, 3), round(spent, 1)
    return sum(runs_per_call[name] * least[name] for name in least)


def table(head, rows):
    rows = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows) + "\n"


def megabytes(n):
    return f"{int(n) / 1e6:.1f} MB"


# What /proc/PID/smaps calls them: the first that is in the name.
PLACES = {"/xidscope": "the program's file", "[heap]": "heap", "bpf-map": "maps of the programs", "perf_event": "rings",
          "bpf": "maps of the programs", "[stack": "stack", "": "other memory of its own"}


def memory_parts(out):
    """Kilobytes of the agent by what they are: each page in a part if others have it, too."""
    kilobytes, place = collections.Counter(), None
    for line in (out / "smaps").read_text().splitlines():
        fields = line.split()
        if fields[0] == "Pss:":
            kilobytes[place] += int(fields[1])
        elif not fields[0].endswith(":"):
            place = next(title for part, title in PLACES.items() if part in " ".join(fields[5:]))
    return kilobytes


def main():
    out = pathlib.Path(sys.argv[1])
    measured = times(out)
    settings = [s for s in OBSERVERS if any(s in by for by in measured.values())]
    base = {workload: statistics.median(by["none"]) for workload, by in measured.items()}
    added = {workload: {s: statistics.median(by[s]) - base[workload] for s in settings}
             for workload, by in measured.items()}
    rows = [[WORKLOADS[w], f"{base[w]:,.0f}"] + [f"{added[w][s]:+,.0f}" for s in settings] for w in measured]
    row = ["throughput lost, %", ""]
    for setting in settings:
        lost = [round(added[w][setting] / (base[w] + added[w][setting]) * 100, 2) for w in measured]
        row.append(f"{min(lost):z.1f} to {max(lost):z.1f}")
    release = (out / "release").read_text().strip()
    print(f"Measured {datetime.date.today().isoformat()} on Linux {release} (`make bench`). "
          "Instructions per call with nothing attached, and those that each observer adds:\n")
    print(table(["work", "nothing"] + [OBSERVERS[s] for s in settings], rows + [row]))

    cost = collections.defaultdict(dict)
    for setting, what, value in lines(out / "cost.tsv"):
        if value.strip():
            cost[setting][what] = int(float(value))
    rows = []
    for setting in settings:
        c = cost[setting]
        start = f"{c['attached_ms']:,} ms" if "attached_ms" in c else "as above"
        rows.append([OBSERVERS[setting], megabytes(c["resident_bytes"]), megabytes(c["map_bytes"]), start])
    print("Memory with one CPU, and the time from the start to the last attachment at one instruction per ns:\n")
    print(table(["observer", "resident", "maps", "start"], rows))

    if "agent" in settings:
        parts = ", ".join(f"{what} {kb:,}" for what, kb in memory_parts(out).most_common())
        print(f"The agent's memory, kB: {parts}.\n", file=sys.stderr)

        agent = {w: round(added[w]["agent"], 1) for w in measured}
        calls = {row[2]: int(row[5]) for row in lines(out / "bench.tsv")}
        programs = {w: in_programs(out, w, calls[w] + WARM_READS) for w in ("read-v3-1", "read-v4.2-1")}
        c = cost["agent"]
        budgets = [
            ("instructions per call in the programs, none waits (worst of v3 and v4.2)",
             max(programs["read-v3-1"], programs["read-v4.2-1"]), 760),
            ("instructions per call in all, none waits (worst of v3 and v4.2)",
             max(agent["read-v3-1"], agent["read-v4.2-1"]), 850),
            ("... each waits for a slot", agent["slot-v3-64"], 1700),
            ("resident memory, MB", c["resident_bytes"] / 1e6, 3.5),
            ("start to attached, ms at one instruction per ns", c["attached_ms"], 350),
        ]
        print(table(["budget", "measured", "at most", ""], [
            [w, f"{v:,.4g}" if v < 100 else f"{v:,.0f}", f"{b:,}", "met" if v <= b else "**missed**"]
            for w, v, b in budgets]), file=sys.stderr)
    noise = []
    for workload, by in measured.items():
        passes = [statistics.median(v) for k, v in by.items() if k.startswith("none ")]
        noise.append((max(passes) - min(passes)) / base[workload])
    print(f"With nothing attached, the passes of one run differ by at most {max(noise) * 100:.1f} %.")


if __name__ == "__main__":
    main()
