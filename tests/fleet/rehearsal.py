#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Rehearses weeks of a fleet with the rules of deploy/prometheus: what they find, and what they cry out for nothing.

    rehearsal.py [--option VALUE]... PROMTOOL PROMETHEUS VICTORIA-METRICS VMALERT FOLDER

The metrics that generate.py makes up are backfilled into Prometheus. promtool evaluates recording rules over the past,
but only those whose inputs are there already: so a pass for each level of rules that use others. Then vmalert replays
the alerts: it asks Prometheus, and writes ALERTS into VictoriaMetrics. Inhibitions are those of alertmanager.yml.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import datetime
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import time

import yaml

import generate
from generate import CHUNK, DAY, START, STEP
from programs import fetch, free_port, server

RULES = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy/prometheus"
FILES = ("nodes", "peers", "reliability")
WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
# Garbage is collected half as often: the programs take 6 % less CPU, and more memory.
os.environ["GOGC"] = "200"
GROUP = 8  # nodes of which the metrics are made and imported together
WORKERS = 2
# An alert that ends and comes again within this time is the same; after an incident it may stay for that time.
GAP, TAIL = 30, 120  # steps


def read(name):
    """The groups of a file of rules."""
    return yaml.safe_load((RULES / f"{name}.yaml").read_text())["groups"]


def words(rules):
    """All names in the expressions of rules."""
    return {word for rule in rules for word in WORD.findall(rule["expr"])}


class Rehearsal:
    def __init__(self, options):
        """With the records and series that alerts and the ranks of lemons are made of."""
        self.tools, self.folder = options, pathlib.Path(options.folder)
        self.data, self.blocks = self.folder / "data", self.folder / "blocks"
        self.data.mkdir()
        self.fleet = generate.Fleet(nodes=options.nodes, days=options.days, seed=options.seed,
                                    incidents=options.incidents, noise=options.noise)
        self.end = START + self.fleet.steps * STEP
        (self.folder / "prometheus.yml").write_text("{}")
        self.cpu = 0
        self.rules = [(group["interval"], rule) for name in FILES for group in read(name) for rule in group["rules"]]
        self.names = set()
        names = {"node:lemon:ratio", *words(rule for group in read("alerts") for rule in group["rules"])}
        while names != self.names:
            self.names = names
            names = names | words(rule for _, rule in self.rules if rule["record"] in names)
        self.rules = [(interval, rule) for interval, rule in self.rules if rule["record"] in names]

    def done(self, what):
        before, self.cpu = self.cpu, sum(os.times()[:4])
        print(f"{what}: {self.cpu - before:.1f} s of CPU", flush=True)

    def run(self, *command, **options):
        result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if result.returncode:
            raise SystemExit(f"{' '.join(command)}: {result.stderr[-2000:]}")

    def keep(self, folder):
        """Takes blocks that promtool has made."""
        for block in folder.glob("0*"):
            block.rename(self.data / block.name)
        shutil.rmtree(folder, ignore_errors=True)

    def backfill_nodes(self, nodes):
        """The metrics of some nodes, in a process of its own."""
        work = self.folder / f"nodes{nodes[0]}"
        work.mkdir()
        for path in generate.write(self.fleet, nodes, work, self.names):
            self.run(self.tools.promtool, "tsdb", "create-blocks-from", "--max-block-duration=54h", "openmetrics", "-q",
                     str(path), str(work / "blocks"))
            path.unlink()
        self.keep(work / "blocks")

    def backfill(self):
        groups = [list(range(n, min(n + GROUP, self.fleet.nodes))) for n in range(0, self.fleet.nodes, GROUP)]
        # Of concurrent.futures: the pool of multiprocessing waits for ever if a worker ends by SystemExit.
        with concurrent.futures.ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
            collections.deque(pool.map(self.backfill_nodes, groups), 0)

    @contextlib.contextmanager
    def prometheus(self):
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        command = [self.tools.prometheus, f"--config.file={self.folder}/prometheus.yml",
                   f"--storage.tsdb.path={self.data}", "--storage.tsdb.retention.time=100y",
                   f"--web.listen-address=127.0.0.1:{port}", "--query.timeout=20m", "--query.max-samples=500000000",
                   # Backfilled series have no stale markers: what is not there at a minute has ended.
                   f"--query.lookback-delta={STEP * 1000 - 1}ms", "--log.level=warn"]
        with server(command, f"{url}/-/ready", self.folder / "prometheus.log"):
            yield url

    def levels(self):
        """The recording rules, each with its group's interval, in lists: one uses only those of the lists before it.

        One that uses its own past is in two of them: the second time it has what the first has left.
        """
        rules = self.rules
        names = {rule["record"] for _, rule in rules}
        yield [(interval, rule) for interval, rule in rules if rule["record"] in words([rule])]
        uses = collections.defaultdict(set)
        for _, rule in rules:
            uses[rule["record"]] |= (words([rule]) & names) - {rule["record"]}
        while rules:
            ready = {name for name in uses if not uses[name]}
            yield [(interval, rule) for interval, rule in rules if rule["record"] in ready]
            rules = [(interval, rule) for interval, rule in rules if rule["record"] not in ready]
            uses = {name: used - ready for name, used in uses.items() if name not in ready}

    def evaluate(self, url, start, rules):
        """The rules of one level, over a block's time. The sum makes one series of results with and without a name.

        For a range, timestamp() reads each series from its begin again at each step. Here a step has one sample.
        """
        # A group's name and file decide at which second it is evaluated: all of an interval at the same one, as if they
        # were one group.
        work = self.folder / f"pass{start}"
        work.mkdir()
        groups = collections.defaultdict(list)
        for interval, rule in rules:
            expr = re.sub(r"\btimestamp\(([\w:]+)\)", r"(0 * \1 + time())", rule["expr"])
            groups[interval].append(rule | {"expr": f"({expr}) + 0" if re.search(r"\bor\b", expr) else expr})
        (work / "rules.yml").write_text(json.dumps({"groups": [
            {"name": interval, "interval": interval, "rules": some} for interval, some in groups.items()]}))
        self.run(self.tools.promtool, "tsdb", "create-blocks-from", "--max-block-duration=54h", "rules", "-q",
                 f"--url={url}", f"--start={start}", f"--end={min(start + CHUNK * STEP - 1, self.end)}",
                 "--output-dir=blocks", "rules.yml", cwd=work)
        return work

    def passes(self):
        for level, rules in enumerate(self.levels()):
            with self.prometheus() as url, concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                outs = list(pool.map(lambda start, url=url, rules=rules: self.evaluate(url, start, rules),
                                     range(START, self.end, CHUNK * STEP)))
            for out in outs:
                self.keep(out / "blocks")
                shutil.rmtree(out)
            self.done(f"pass {level}, {len(rules)} rules")

    def replay(self, url):
        """Intervals in which each alert fires: (first step, last step, labels)."""
        groups = read("alerts")
        for group in groups:
            for rule in group["rules"]:
                # A replay has no queries in templates.
                rule.pop("annotations")
        (self.folder / "alerts.yml").write_text(yaml.safe_dump({"groups": groups}))
        port = free_port()
        store = f"http://127.0.0.1:{port}"

        def moment(seconds):
            return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        with server([self.tools.victoria, f"-storageDataPath={self.folder}/victoria", "-retentionPeriod=100y",
                     f"-httpListenAddr=127.0.0.1:{port}"], f"{store}/health", self.folder / "victoria.log"):
            # An answer has a week's pending alerts of all nodes, and what does not fit into the queue ends the replay.
            self.run(self.tools.vmalert, f"-rule={self.folder}/alerts.yml", f"-datasource.url={url}",
                     "-datasource.queryStep=0", f"-remoteWrite.url={store}", "-replay.disableProgressBar",
                     "-remoteWrite.maxQueueSize=4000000", "-remoteWrite.maxBatchSize=20000",
                     "-replay.maxDatapointsPerQuery=10000", "-replay.rulesDelay=0s", "-evaluationInterval=1m",
                     f"-replay.timeFrom={moment(START)}", f"-replay.timeTo={moment(self.end)}")
            fetch(f"{store}/internal/force_flush")
            time.sleep(2)
            firing = 'ALERTS{alertstate="firing", severity!="none"}'
            lines = fetch(f"{store}/api/v1/export", **{"match[]": firing}).splitlines()
        fired = []
        for line in lines:
            series = json.loads(line)
            steps = sorted({round((t / 1000 - START) / STEP) for t in series["timestamps"]})
            first = last = steps[0]
            for step in [*steps[1:], steps[-1] + GAP + 1]:
                if step > last + GAP:
                    fired.append((first, last, series["metric"]))
                    first = step
                last = step
        return sorted(fired, key=lambda alert: alert[0])

    def ranks(self, url):
        """The nodes that fail most, by the rule, at the end."""
        answer = json.loads(fetch(f"{url}/api/v1/query", query="sort_desc(last_over_time(node:lemon:ratio[10m]) > 0)",
                                  time=self.end - STEP))
        return [number(sample["metric"]["node"]) for sample in answer["data"]["result"]]


def number(name):
    """Of the node with this name, or with this name and a port."""
    found = re.match(r"node(\d+)", name)
    return int(found[1]) if found else None


def inhibited(alert, fired):
    """Whether another alert stands for this one, by alertmanager.yml, when it begins or within its first minutes."""
    for rule in yaml.safe_load((RULES / "alertmanager.yml").read_text())["inhibit_rules"]:
        source, target = (matchers(rule[f"{side}_matchers"]) for side in ("source", "target"))
        if not target.fullmatch(alert[2]["alertname"]):
            continue
        for other in fired:
            if other is not alert and source.fullmatch(other[2]["alertname"]) and \
                    other[0] <= alert[0] + 5 and other[1] >= alert[0] and \
                    all(other[2].get(label) == alert[2].get(label) for label in rule["equal"]):
                return True
    return False


def matchers(texts):
    """The pattern of alertname, which is the only label that our inhibitions match."""
    (text,) = texts
    return re.compile(re.fullmatch(r'alertname =~? "?([^"]*)"?', text)[1])


def node_of(alert):
    return number(alert[2].get("node") or alert[2].get("instance", ""))


def belongs(alert, incident):
    """Whether an alert can come of an incident."""
    return incident.time - incident.lead - 5 <= alert[0] <= incident.time + incident.duration + TAIL and \
        alert[2]["alertname"] in generate.ALERTS[incident.family][1] and node_of(alert) in (None, *incident.nodes)


def tells(incident, fired):
    """The first alert that finds an incident; of several nodes the last of the first ones, if each has one."""
    names = generate.ALERTS[incident.family][0]
    # One that has not ended since an incident before stands for both.
    of_it = [alert for alert in fired if alert[2]["alertname"] in names and node_of(alert) in (None, *incident.nodes)
             and (belongs(alert, incident) or alert[0] < incident.time <= alert[1])]
    if not incident.of_storage:
        of_it = [next((alert for alert in of_it if node_of(alert) == node), None) for node in incident.nodes]
        of_it = [] if None in of_it else sorted(of_it, key=lambda alert: -alert[0])
    return of_it[0] if of_it else None


def judge(fleet, fired, ranks):
    """Prints what was found, and the line of figures."""
    incidents = [i for i in fleet.incidents if not i.lemon]
    lemons = sorted({node for i in fleet.incidents if i.lemon for node in i.nodes})
    failures = collections.Counter(node for i in fleet.incidents if i.of_node for node in i.nodes)
    told = [alert for alert in fired if not inhibited(alert, fired)]
    found = early = could = 0
    for incident in incidents:
        first = tells(incident, fired)
        found += first is not None
        could += incident.told_before
        early += first is not None and first[0] < incident.time and incident.told_before
        print(f"{incident.time / DAY:6.2f} {incident.kind:14} nodes {len(incident.nodes):2} "
              + (f"{first[2]['alertname']} {(first[0] - incident.time) / 60:+.2f} h"
                 if first else "not found"))
    false = [alert for alert in told if not any(belongs(alert, i) for i in fleet.incidents)
             and not (alert[2]["alertname"] in ("LemonNode", "GpuRepeats") and failures[node_of(alert)] > 2)]
    for first, last, labels in false:
        where = labels.get("node") or labels.get("instance") or labels.get("storage")
        print(f"{first / DAY:6.2f} false: {labels['alertname']} {where}, {last - first + 1} minutes")
    places = [str(ranks.index(node) + 1) if node in ranks else "none" for node in lemons
              if any(i.lemon and node in i.nodes for i in fleet.incidents)]
    print(f"lemons: nodes {lemons}, ranked first: {ranks[:5]}; {could} incidents could be seen before")
    print(f"found {found} of {len(incidents)}, early {early}, false per day {len(false) * DAY / fleet.steps:.2f}, "
          f"lemons {' '.join(sorted(places)) or 'none'}")
    return found == len(incidents)


def parser():
    options = argparse.ArgumentParser()
    for name, default in (("nodes", 63), ("days", 55.0), ("seed", 1), ("incidents", generate.INCIDENTS),
                          ("noise", generate.NOISE)):
        options.add_argument(f"--{name}", default=default, type=type(default))
    for name in ("promtool", "prometheus", "victoria", "vmalert", "folder"):
        options.add_argument(name)
    return options


def main():
    rehearsal = Rehearsal(parser().parse_args())
    rehearsal.backfill()
    rehearsal.done("backfill")
    rehearsal.passes()
    with rehearsal.prometheus() as url:
        fired = rehearsal.replay(url)
        ranks = rehearsal.ranks(url)
    rehearsal.done("alerts")
    judge(rehearsal.fleet, fired, ranks)


if __name__ == "__main__":
    main()
