#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plays the faults of a real fleet through the rules on reliability: how often nodes fail, which nodes LemonNode names,
and what then happens to them.

    real_trace.py [--nodes N] [--days D] [--shuffle SEED] FILE

FILE has the form of github.com/stepfun-ai/InfiniteHBD-Trace: events with node_id, event_time in days, event_type
(fault_start or fault_end) and fault_type. A node that never fails is not in it: N is the number of all nodes. --shuffle
moves each fault to a node by chance.

Rules are evaluated each hour instead of every four minutes. A fault lasts an hour at least, and the node's next one
begins after an hour without. "At once" means within an hour. The trace gives node:failed; the other records are those
of reliability.yaml, put into the expressions that use them.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile

import yaml

import programs

TOP = pathlib.Path(__file__).resolve().parents[2]
RULES = TOP / "deploy/prometheus"
HOUR, MONTH = 3600, 720  # seconds, hours
STEP = 6  # hours between the moments at which incidents are counted
BLOCK = 1458  # hours: a length of blocks that promtool knows
START = 1_750_000_000 // (BLOCK * HOUR) * BLOCK * HOUR


def read_faults(path, end):
    """Of each node its faults in order: [first hour, hour after the last]."""
    faults, lasting = collections.defaultdict(list), collections.defaultdict(list)
    for event in sorted(json.loads(pathlib.Path(path).read_text(encoding="utf-8")), key=lambda e: e["event_time"]):
        key, hour = (event["node_id"], str(event["fault_type"])), int(24 * event["event_time"])
        if event["event_type"] == "fault_start":
            faults[event["node_id"]].append([hour, end])
            lasting[key].append(faults[event["node_id"]][-1])
        elif lasting[key]:
            lasting[key].pop(0)[1] = hour
    return faults


def shuffled(faults, nodes, seed):
    """The same faults at the same times, each on a node by chance."""
    chance, result = random.Random(seed), collections.defaultdict(list)
    for fault in sorted(fault for some in faults.values() for fault in some):
        result[chance.randrange(nodes)].append(fault)
    return result


def states(faults, end):
    """Of each hour whether the node has failed, 1 or 0. Each fault begins after an hour without."""
    values, before = [0] * end, -1
    for first, last in faults:
        first = max(first, before + 2)
        if first < end:
            values[first - 1:first] = [0] * (first > 0)
            values[first:min(max(last, first + 1), end)] = [1] * (min(max(last, first + 1), end) - first)
        before = first
    return values


def begins(values):
    return [hour for hour, value in enumerate(values) if value and not (hour and values[hour - 1])]


def tool(name):
    return subprocess.run([TOP / "tests/vm/tool.sh", "prometheus", f"usr/bin/{name}"], capture_output=True, check=True,
                          text=True).stdout.strip()


class Rules:
    """Those of reliability.yaml, as expressions of what is stored."""
    def __init__(self, *stored):
        text = (RULES / "reliability.yaml").read_text().replace("4m", "1h")
        self.of = collections.defaultdict(list)
        for group in yaml.safe_load(text)["groups"]:
            for rule in group["rules"]:
                if rule["record"] not in stored:
                    self.of[rule["record"]].append(rule)

    def record(self, name):
        parts = []
        for rule in self.of[name]:
            expr = self.expand(rule["expr"])
            for label, value in rule.get("labels", {}).items():
                expr = f'label_replace({expr}, "{label}", "{value}", "", "")'
            parts.append(f"({expr})")
        return f"({' or '.join(parts)})"

    def expand(self, expr):
        """A record's past is that of its expression, an hour apart."""
        def past(match):
            name, window = match.groups("")
            return self.record(name) + window.replace("]", ":1h]") if name in self.of else match[0]
        return re.sub(r"(?<![\w:])([a-z]+:[\w:]+)(\[\w+\])?", past, expr)


class Prometheus:
    """One that stores what it is given, and answers for each step of the time."""
    def __init__(self, folder, end):
        self.folder, self.data, self.promtool, self.end = folder, folder / "data", tool("promtool"), end
        self.data.mkdir()
        (folder / "prometheus.yml").write_text("{}")

    def store(self, name, values, step):
        """Of each node a value for every so many hours."""
        with open(self.folder / "text", "w", encoding="ascii") as file:
            times = [f" {START + hour * HOUR}\n" for hour in range(0, self.end, step)]
            for node, of_node in values.items():
                series = f'{name}{{node="{node}"}} '
                file.write("".join([f"{series}{value}{time}" for value, time in zip(of_node, times)]))
            file.write("# EOF\n")
        subprocess.run([self.promtool, "tsdb", "create-blocks-from", f"--max-block-duration={BLOCK}h", "openmetrics",
                        "-q", self.folder / "text", self.data], check=True, stdout=subprocess.DEVNULL)

    def serve(self):
        port = programs.free_port()
        self.url = f"http://127.0.0.1:{port}"
        return programs.server([
            tool("prometheus"), f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.data}",
            "--storage.tsdb.retention.time=100y", f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn",
            "--query.max-samples=500000000", "--query.timeout=20m", f"--query.lookback-delta={1000 * HOUR - 1}ms",
        ], f"{self.url}/-/ready", self.folder / "log")

    def ask(self, expr, first=0):
        """Of each node or plan {hour: value}, every STEP hours from the first on."""
        data = json.loads(programs.fetch(f"{self.url}/api/v1/query_range", query=expr, start=START + first * HOUR,
                                         end=START + (self.end - 1) * HOUR, step=STEP * HOUR))
        return {"".join(series["metric"].get(label, "") for label in ("node", "plan")): {
            (time - START) // HOUR: float(value) for time, value in series["values"]}
            for series in data["data"]["result"]}


def namings(named):
    """When each node is named: [(hour, node)], of the hours at which it is."""
    return sorted((hour, node) for node, hours in named.items() for hour in hours if hour - STEP not in hours)


def outcome(names, faults, first, last):
    """Of the namings in these hours: how many have a fault within a month, of those that have a month before the last
    hour, and how many faults of a node follow its first."""
    names = [(hour, node) for hour, node in names if first <= hour < last]
    whole = [(hour, node) for hour, node in names if hour + MONTH <= last]
    again = sum(any(hour < fault <= hour + MONTH for fault in faults[node]) for hour, node in whole)
    since = {node: hour for hour, node in reversed(names)}
    follow = sum(since[node] < fault < last for node in since for fault in faults[node])
    return f"{len(since)} nodes {len(names)} times, {again} of {len(whole)}, {follow}"


def any_time(faults, nodes, end):
    """The share of nodes that fail within a month of any time."""
    hours = sum(any(hour < fault <= hour + MONTH for fault in some) for some in faults.values()
                for hour in range(0, end - MONTH, STEP))
    return hours / nodes / len(range(0, end - MONTH, STEP))


def by_chance(faults, nodes, least):
    """How many faults would be so many of a node's in a month, if each were on any node: no more namings than that."""
    times = sorted(fault for some in faults.values() for fault in some)
    total = 0
    for at, time in enumerate(times):
        before = sum(time - MONTH < other for other in times[:at])
        total += 1 - sum(math.comb(before, k) * (1 / nodes) ** k * (1 - 1 / nodes) ** (before - k)
                         for k in range(min(least - 1, before + 1)))
    return total


def play(values, nodes, end, folder):
    rules = Rules("node:failed", "node:drained")
    prometheus = Prometheus(folder, end)
    prometheus.store("node:failed", values, 1)
    # Over all days instead of the last 30.
    whole = {name: rules.record(name).replace("[30d", f"[{end}h") for name in (
        "fleet:node_failures:per_1000_node_days", "fleet:mttf:seconds", "fleet:mttf_alone:seconds", "plan:ettr:ratio")}
    with prometheus.serve():
        figures = {name: prometheus.ask(expr, end - 1) for name, expr in whole.items()}
        incidents = prometheus.ask(rules.record("node:incidents:30d"))
    prometheus.store("node:incidents:30d", {node: [int(value) for _, value in sorted(of_node.items())]
                                            for node, of_node in incidents.items()}, STEP)
    (lemon,) = [rule["expr"] for group in yaml.safe_load((RULES / "alerts.yaml").read_text())["groups"]
                for rule in group["rules"] if rule["alert"] == "LemonNode"]
    least, times = map(int, re.findall(r">=? (\d+)", lemon))
    curve = dict.fromkeys([(least, times), *((n, times) for n in (2, 4, 5)), (2, 10), (3, 15), (3, 20)])
    with prometheus.serve():
        named = {(n, t): namings(prometheus.ask(
            lemon.replace(f">= {least}", f">= {n}").replace(f"> {times}", f"> {t}"))) for n, t in curve}
    return figures, named


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--nodes", type=int, default=400)
    options.add_argument("--days", type=float, default=174.5)
    options.add_argument("--shuffle", type=int)
    options.add_argument("file", type=pathlib.Path)
    args = options.parse_args()
    end = int(24 * args.days)
    faults = read_faults(args.file, end)
    if args.shuffle is not None:
        faults = shuffled(faults, args.nodes, args.shuffle)
    if len(faults) > args.nodes:
        raise SystemExit(f"{args.file}: {len(faults)} nodes fail: --nodes is {args.nodes}")
    values = {f"node{number:05}": states(faults[node], end) if node is not None else [0] * end
              for number, node in enumerate([*faults, *[None] * (args.nodes - len(faults))])}
    began = {node: begins(of_node) for node, of_node in values.items()}
    with tempfile.TemporaryDirectory() as folder:
        figures, named = play(values, args.nodes, end, pathlib.Path(folder))

    def figure(name, plan=""):
        return next(iter(figures[name][plan].values()))
    print(f"{args.nodes} nodes, {args.days:g} days, {sum(map(len, began.values()))} faults: "
          f"{figure('fleet:node_failures:per_1000_node_days'):.1f} failures in 1,000 node-days")
    print(f"MTTF of all nodes {figure('fleet:mttf:seconds') / HOUR:.1f} h, "
          f"{figure('fleet:mttf_alone:seconds') / HOUR:.1f} h without failures of many nodes at once")
    for plan in sorted(figures["plan:ettr:ratio"]):
        print(f"ETTR {figure('plan:ettr:ratio', plan):.3f}: {plan}")
    print(f"any node at any time fails within 30 days: {any_time(began, args.nodes, end):.0%}")
    print("LemonNode: nodes named; with a fault within 30 days, of namings with 30 days left; faults that follow")
    part = end * 2 // 3
    for (least, times), names in named.items():
        print(f"{least} incidents, {times} times the mean: {outcome(names, began, 0, end)}; the first two thirds: "
              f"{outcome(names, began, 0, part)}; the last: {outcome(names, began, part, end)}; "
              f"namings by chance: {by_chance(began, args.nodes, least):.1f}")


if __name__ == "__main__":
    main()
