#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints tables of what tests/bench/guest.sh left, and its budgets on standard error: table.py OUT

    nm PROGRAM | table.py --probes    prints the probes of guest.sh
"""
import collections
import datetime
import json
import pathlib
import re
import statistics
import sys

OBSERVERS = {
    "agent": "xidscope run",
    "file": "xidscope run --sunrpc-btf",
    "tracepoints": "xidscope run --source tracepoints",
    "trace": "xidscope trace",
    "files": "xidscope trace --files",
    "bpftrace": "bpftrace, same histograms",
    "nfsdist": "nfsdist (libbpf-tools)",
}
WORKLOADS = {
    "read-v3-1": "4 KiB reads, v3, depth 1",
    "read-v3-64": "4 KiB reads, v3, depth 64",
    "read-v4.2-1": "4 KiB reads, v4.2, depth 1",
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
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in [head] + rows]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def with_sum(rows):
    rows = sorted((row for row in rows if any(row[1:])), key=lambda row: -row[1])
    return rows + [["all", *map(sum, zip(*(row[1:] for row in rows)))]]


def megabytes(n):
    return f"{int(n) / 1e6:.1f} MB"


# What /proc/PID/smaps calls them: the first that is in the line.
PLACES = {
    "r-xp .*/xidscope": "code",
    "r--p .*/xidscope": "constants",
    "heap": "heap",
    "perf_event": "rings",
    "bpf-map|/dev/zero": "maps of the programs, mapped",
    "": "stack, variables, large arrays",
}


def memory_parts(out):
    """KiB of the agent, and of its other processes, by what they are; of a page that others have, a part."""
    parts, place, other, last = {}, None, 0, 0
    for line in (out / "smaps").read_text().splitlines():
        fields = line.split()
        if fields[0] == "Pss:":
            parts.setdefault(place, [0, 0])[other] += int(fields[1])
        elif not fields[0].endswith(":"):
            place = next(title for part, title in PLACES.items() if re.search(part, line))
            begin = int(fields[0].split("-")[0], 16)
            other |= begin < last
            last = begin
    return parts


# Functions of the start, and the command of bpf() that loads a program: what their own time is spent for.
BPF_PROG_LOAD = "5"
STARTS = {
    "observer_start": "the rest",
    "btf__load_vmlinux_btf": "reading the kernel's types (BTF)",
    "btf__parse_split": "reading the kernel's types (BTF)",
    "kernel_type_find": "looking for types",
    "kernel_types_offset": "looking for types",
    "btf__find_by_name_kind": "looking for types",
    "libbpf_kallsyms_parse": "reading kallsyms, attaching",
    BPF_PROG_LOAD: "the verifier",
    "bpf_object__open_skeleton": "opening objects",
    "bpf_object__load_skeleton": "relocating programs, making maps",
    "bpf_object__attach_skeleton": "reading kallsyms, attaching",
    "bpf_program__attach": "reading kallsyms, attaching",
}


def probes(symbols):
    places = {fields[2]: int(fields[0], 16) - 0x400000 for fields in map(str.split, symbols) if len(fields) == 3}
    for name in STARTS:
        if name != BPF_PROG_LOAD:
            place = f"/job/xidscope:{places[name]:#x}"
            print(f"p:uprobes/begin_{name} {place}\nr:uprobes/end_{name} {place}")


def start_parts(out):
    """Milliseconds of the start by what was at work: the innermost of what is known."""
    spent, stack, last = dict.fromkeys(STARTS.values(), 0.0), [], 0.0
    for line in (out / "start").read_text().splitlines():
        event = re.search(r" ([0-9.]+): (sys|begin|end)_(\w+): (NR 321 \((\w+))?", line)
        if not event:
            continue
        if stack:
            spent[stack[-1]] += (float(event[1]) - last) * 1e3
        last = float(event[1])
        begins = event[2] == "begin" or event[3] == "enter"
        if begins and (stack or event[3] == "observer_start"):
            stack.append(STARTS.get(event[5] or event[3], stack[-1] if stack else ""))
        elif not begins and stack:
            stack.pop()
    if stack or not last:
        sys.exit("table.py: the trace of the start is not whole")
    return spent


def main():
    if sys.argv[1] == "--probes":
        return probes(sys.stdin)
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
          "Instructions per call, and those that each observer adds:\n")
    print(table(["work", "nothing"] + [OBSERVERS[s] for s in settings], rows + [row]))

    cost = collections.defaultdict(dict)
    for setting, what, value in lines(out / "cost.tsv"):
        if value.strip():
            cost[setting][what] = int(float(value))
    rows = []
    for setting in settings:
        if setting == "trace":  # as the next, but for its maps
            continue
        c = cost[setting]
        start = f"{c['attached_ms']:,} ms" if "attached_ms" in c else "as run"
        rows.append([OBSERVERS[setting], megabytes(c["resident_bytes"]), megabytes(c["map_bytes"]), start])
    print("Memory with one CPU, and the start at one instruction per ns:\n")
    print(table(["observer", "resident", "maps", "start"], rows))

    if "agent" in settings:
        print(table(["`xidscope run`, KiB by smaps", "agent", "writers"],
                    with_sum([[what, *kb] for what, kb in memory_parts(out).items()])))
        print(table(["its start, with probes", "ms"],
                    with_sum([[what, round(ms)] for what, ms in start_parts(out).items()])))

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
    print(f"With nothing attached, passes differ by at most {max(noise) * 100:.1f} %.")


if __name__ == "__main__":
    main()
