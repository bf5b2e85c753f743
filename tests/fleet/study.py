#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes up a fleet with the figures of study.tsv, and prints what the rules of deploy/prometheus say of it beside them.

    study.py PROMTOOL FILE

promtool evaluates the rules as Prometheus does: those of checkpoints each 15 s, those of attempts each minute. For the
former, sessions follow each other without the pauses of the latter, and each node stands for three. Exit status 1: a
figure is 1 % or more off what was made.
"""
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import yaml

RULES = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy/prometheus"
SLOT = 14  # steps of 15 s: a checkpoint and the time until the next
THINNED = 3  # of the nodes of a checkpoint each stands for so many: promtool takes a third of the time
PARTS = 8  # of the sessions, each evaluated by itself
BEFORE = ("slot", "session", "send", "setup")


def read(path):
    lines = (line.split("\t") for line in pathlib.Path(path).read_text(encoding="ascii").splitlines() if line[0] != "#")
    return {name: float(value) for name, value in lines}


def around(rng, mean, count):
    """So many values about a mean, which is theirs."""
    values = [rng.lognormvariate(0, 0.4) for _ in range(count)]
    return [value * mean * count / sum(values) for value in values]


class Study:
    def __init__(self, figures):
        self.figures, self.rng = figures, random.Random(1)
        self.nodes = [f"node{n:02}" for n in range(int(figures["nodes"]))]
        sessions = int(figures["sessions"])
        saves = int(figures["checkpoints"]) - sessions
        shares = {"load": iter(around(self.rng, figures["load_share"], sessions)),
                  "save": iter(around(self.rng, figures["save_share"], saves))}
        self.shares = collections.defaultdict(list)
        # Each session's checkpoints: kind, share of the storage's maximum.
        self.sessions = []
        for number in range(sessions):
            kinds = ["load"] + ["save"] * (saves * (number + 1) // sessions - saves * number // sessions)
            self.sessions.append([(kind, next(shares[kind])) for kind in kinds])
            for kind, share in self.sessions[-1]:
                self.shares[kind].append(share)
        self.phases = collections.Counter()

    def checkpoints(self, part):
        """The series of a part of the sessions, and when to ask for each checkpoint."""
        self.rng = random.Random(part)
        sessions = self.sessions[len(self.sessions) * part // PARTS:len(self.sessions) * (part + 1) // PARTS]
        series, asked, step = collections.defaultdict(dict), [], 8
        total = collections.Counter()
        nodes = self.nodes[::THINNED]
        for name in nodes:
            for kind in ("load", "save"):
                for what in ("seconds_count", "seconds_sum", "bytes_sum"):
                    series[f'xidscope_checkpoint_episode_{what}{{{self.labels(name)},kind="{kind}"}}'][0] = 0
            series[f'xidscope_rpc_server_info{{{self.labels(name)},storage="pool"}}'][0] = 1
        for number, session in enumerate(sessions):
            begin, here = step, self.rng.sample(nodes, len(nodes) - 1)
            for kind, share in session:
                longest = self.rng.uniform(60, 140)
                size = share * self.figures[f"{kind}_max"] * longest / len(here)
                for place, name in enumerate(here):
                    seconds = longest * (1 if place == 0 else self.rng.uniform(0.9, 1))
                    end = step + int(seconds / 15) + 2
                    for what, value in (("seconds_count", 1), ("seconds_sum", seconds), ("bytes_sum", size)):
                        key = f'xidscope_checkpoint_episode_{what}{{{self.labels(name)},kind="{kind}"}}'
                        total[key] += value
                        series[key][end] = total[key]
                    if kind == "save":
                        self.calls(series, total, name, end, seconds)
                step += SLOT
                asked.append((step - 2, number, kind))
            for name in here:
                job = series[f'fleet_node_job_info{{instance="{name}:9100",workload="{number}"}}']
                job[begin - 4], job[step] = 1, None
            step += 8
        return series, asked, step

    @staticmethod
    def labels(name):
        return f'instance="{name}:9100",server="nas"'

    def calls(self, series, total, name, end, seconds):
        """What the WRITEs of one part took, by phase, and in mountstats."""
        queue = self.figures["queue_share"] * self.rng.uniform(0.95, 1.05)
        took = {phase: queue * self.figures[f"queue_{phase}"] for phase in BEFORE}
        took["rtt"] = 1 - sum(took.values())
        for phase, share in took.items():
            self.phases[phase] += 100 * share * seconds
            labels = f'{self.labels(name)},op="WRITE",phase="{phase}"'
            self.add(series, total, f"xidscope_rpc_op_phase_seconds_total{{{labels}}}", end, 100 * share * seconds)
        for what, share in (("queue", queue), ("request", 1)):
            self.add(series, total, f'node_mountstats_nfs_operations_{what}_time_seconds_total{{instance="{name}:9100",'
                     'operation="WRITE"}', end, 100 * share * seconds)

    @staticmethod
    def add(series, total, key, end, value):
        series[key].setdefault(0, 0)
        total[key] += value
        series[key][end] = total[key]

    def attempts(self):
        """Jobs on nodes, by minute: chains of attempts, and sessions that follow none on groups of two nodes. In each
        attempt after the first another node is left out, every second time one of three."""
        chains, attempts = int(self.figures["chains"]), int(self.figures["attempts"])
        lengths = [attempts * (n + 1) // chains - attempts * n // chains for n in range(chains)]
        wins = round(self.figures["success"] * attempts) - chains  # besides the last of each chain
        nodes, left_out, intervals, job, minute = self.nodes[::THINNED], collections.Counter(), [], 0, 10
        series = collections.defaultdict(dict)

        def run(name, begin, minutes):
            of = series[f'fleet_node_job_info{{instance="{name}:9100",workload="{job}"}}']
            of[begin], of[begin + minutes] = 1, None
        for length in lengths:
            for turn in range(length):
                away = None
                if turn:
                    count = left_out.total()
                    away = nodes[3 + count % (len(nodes) - 3) if count % 2 else count // 2 % 3]
                    left_out[away] += 1
                long = turn == length - 1 or turn == 1 and wins > 0
                wins -= long and turn < length - 1
                ran = 65 if long else round((self.figures["interval_minutes"] - 2) * self.rng.uniform(0.8, 1.2))
                for name in nodes:
                    if name != away:
                        run(name, minute, ran)
                if turn < length - 1:
                    intervals.append(60 * (ran + 2))
                minute, job = minute + ran + 2, job + 1
            minute += 40
        for number in range(int(self.figures["sessions"]) - attempts):
            for name in (f"{number % 20}a", f"{number % 20}b"):
                run(name, 10 + number // 20 * 60, 20)
            job += 1
        return series, minute, left_out, intervals


def values(changes, end):
    """In promtool's words: what a series is from each of these steps on; None ends it."""
    steps, text = sorted(changes), []
    if steps[0]:
        text.append(f"_x{steps[0]}")
    for step, following in zip(steps, [*steps[1:], end]):
        value = changes[step]
        if value is not None:
            text.append(f"{value!r}x{following - step - 1}")
        else:
            text.append("stale" + (f" _x{following - step - 1}" if following - step > 1 else ""))
    return " ".join(text)


def rules():
    """The expressions of the recording rules."""
    return {rule["record"]: rule["expr"] for path in ("nodes", "peers", "checkpoints", "attempts")
            for group in yaml.safe_load((RULES / f"{path}.yaml").read_text())["groups"] for rule in group["rules"]}


def evaluate(promtool, names, interval, series, end, asked):
    """What promtool has got of each expression at each of these steps, with these rules: a list of samples."""
    tests = [{"expr": expr, "eval_time": f"{step * interval}s", "exp_samples": []} for step, expr in asked]
    group = {"name": "study", "interval": f"{interval}s",
             "rules": [{"record": name, "expr": expr} for name, expr in rules().items() if name in names]}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "rules.yaml").write_text(json.dumps({"groups": [group]}))
        (pathlib.Path(folder) / "test.yaml").write_text(json.dumps({
            "rule_files": ["rules.yaml"], "evaluation_interval": f"{interval}s", "tests": [
                {"interval": f"{interval}s", "promql_expr_test": tests,
                 "input_series": [{"series": name, "values": values(changes, end)}
                                  for name, changes in series.items()]}]}))
        said = subprocess.run([promtool, "test", "rules", f"{folder}/test.yaml"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    found = re.findall(r'expr: ("(?:[^"\\]|\\.)*"), time: \S+,\s+exp:\s*\S+\s+got:\s*(.*)', said)
    if len(found) != len(asked):
        raise SystemExit(f"promtool has not answered all: {said[-2000:]}")
    sample = re.compile(r"(\{.*?\}) (\S+?)(?:,|$)")
    return [(json.loads(expr), [(labels, float(value)) for labels, value in sample.findall(got)])
            for expr, got in found]


WRITES = 'sum by (phase) (xidscope_rpc_op_phase_seconds_total{op="WRITE"})'
COUNT = "sum(changes(job:checkpoint:start:seconds[1d]) + 1)"
MOUNTSTATS = [f'sum(node_mountstats_nfs_operations_{what}_time_seconds_total{{operation="WRITE"}})'
              for what in ("queue", "request")]
# The records of 30 days are asked for once.
RELIABILITY = {
    "sessions": "count(count by (workload) (last_over_time(job:nodes[30d])))",
    "chains": "fleet:chains:30d",
    "attempts": "fleet:attempts:30d",
    "success": "fleet:attempts:success:ratio30d",
    "interval_minutes": "fleet:attempts:interval_seconds:median30d / 60",
    "top3_share": "sum(topk(3, node:left_out:30d)) / sum(node:left_out:30d)",
}


def spelled_out(expr):
    """With the expressions of the records of 30 days in place of their names."""
    for name, of in rules().items():
        if "30d" in name and name in expr:
            expr = spelled_out(expr.replace(name, f"({of})"))
    return expr


def named(*prefixes):
    return [name for name in rules() if name.startswith(prefixes) and "30d" not in name]


def checkpoint_part(promtool, figures, number):
    """Of a part of the sessions: what was made, and what the rules say of it."""
    study = Study(figures)
    series, asked, end = study.checkpoints(number)
    for kind, direction in (("load", "read"), ("save", "write")):
        stated = f'fleet_storage_max_bytes_per_second{{storage="pool",direction="{direction}"}}'
        series[stated][0] = figures[f"{kind}_max"]
    ratio = 'job:checkpoint:storage:ratio{{workload="{}",kind="{}"}}'
    answers = evaluate(promtool, named("instance:nfs_storage", "node:workload", "node:episode", "job:checkpoint",
                                       "node:checkpoint"), 15, series, end,
                       [(step, ratio.format(job, kind)) for step, job, kind in asked] +
                       [(end - 1, expr) for expr in (WRITES, COUNT, *MOUNTSTATS)])
    said = collections.defaultdict(list)
    for expr, samples in answers:
        for labels, value in samples:
            phase = re.search('phase="(.*?)"', labels)
            kind = re.search('kind="(.*?)"', labels)
            said[phase[1] if phase else kind[1] if kind else expr].append(value)
    return study.phases, said


def main():
    promtool, figures = sys.argv[1], read(sys.argv[2])
    study = Study(figures)
    phases, said = collections.Counter(), collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        last = pool.submit(attempts_said, promtool, study)
        for made, part in pool.map(lambda number: checkpoint_part(promtool, figures, number), range(PARTS)):
            phases.update(made)
            for name, found in part.items():
                said[name] += found
    reliability, truth = last.result()
    made, ours, total = dict(truth), dict(reliability), sum(phases.values())
    made |= {"checkpoints": sum(map(len, study.sessions)), "queue_share": sum(phases[p] for p in BEFORE) / total}
    ours |= {"checkpoints": sum(said[COUNT])}
    for kind in ("load", "save"):
        made[f"{kind}_share"], ours[f"{kind}_share"] = statistics.mean(study.shares[kind]), statistics.mean(said[kind])
    parts = {phase: sum(said[phase]) / sum(sum(said[p]) for p in (*BEFORE, "rtt")) for phase in BEFORE}
    ours["queue_share"] = sum(parts.values())
    queue, request = (sum(said[expr]) for expr in MOUNTSTATS)
    for phase in BEFORE:
        made[f"of it, {phase}"], ours[f"of it, {phase}"] = phases[phase] / total, parts[phase]
    print("| figure | published | made | ours | mountstats alone |\n| --- | --- | --- | --- | --- |")
    good = True
    for name, value in made.items():
        published = f"{figures[name]:.4g}" if name in figures else "-"
        alone = f"{queue / request:.4g}" if name == "queue_share" else "-"
        good &= abs(ours[name] - value) <= 0.01 * abs(value)
        print(f"| {name.replace('_', ' ')} | {published} | {value:.4g} | {ours[name]:.4g} | {alone} |")
    raise SystemExit(0 if good else "a figure is 1 % or more off what was made")


def attempts_said(promtool, study):
    series, end, left_out, intervals = study.attempts()
    needed = named("node:workload", "job:nodes", "job:begin", "job:ran", "job:follows", "job:attempt",
                   "node:left_out")
    answers = evaluate(promtool, needed, 60, series, end,
                       [(end - 1, spelled_out(expr)) for expr in RELIABILITY.values()])
    figures, attempts = study.figures, study.figures["attempts"]
    truth = {"sessions": figures["sessions"], "chains": figures["chains"], "attempts": attempts,
             "success": round(figures["success"] * attempts) / attempts,
             "interval_minutes": statistics.median(intervals) / 60,
             "top3_share": sum(count for _, count in left_out.most_common(3)) / left_out.total()}
    return {name: samples[0][1] if samples else 0 for name, (_, samples) in zip(RELIABILITY, answers)}, truth


if __name__ == "__main__":
    main()
