#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures what the rules of deploy/prometheus cost a Prometheus: of nodes with all exporters, as generate.py has them.

    rule_cost.py PROMETHEUS FOLDER NODES...

Targets are scraped, and the rules evaluated, every INTERVAL seconds instead of each minute, four or ten. The CPU of one
evaluation is what a Prometheus with rules takes more than one without. The first minutes have no day to look back at:
what the baseline costs later is not in the figures.
"""
import json
import pathlib
import re
import sys
import threading
import time

import generate
import programs
import rehearsal

INTERVAL, SCRAPES = 30, 4
RULES = ("nodes", "peers", "checkpoints", "attempts", "reliability", "alerts")


class Handler(programs.Handler):
    def do_GET(self):  # pylint: disable=invalid-name # http.server's
        job = self.path.split("/")[1]
        self.answer(self.server.texts[job][int(time.monotonic() / INTERVAL) % self.server.steps])


class Targets(programs.Targets):
    """Serves what a node of a job has, a later minute of it at each interval."""
    def __init__(self, steps=60):
        super().__init__(Handler)
        fleet = generate.Fleet(nodes=8, days=0.25, seed=1, incidents=str(generate.INCIDENTS), noise=str(generate.NOISE))
        first, self.steps, self.texts = 200, steps, {}
        series = [s for s in fleet.series(0) if s[1] != "up"]
        for job in generate.PORTS:
            self.texts[job] = ["".join(f"{name} {values[first + step]:.9g}\n" for of, name, values, there in series
                                       if of == job and there[first + step]).encode() for step in range(steps)]


def measure(prometheus, folder, targets, nodes, rules):
    folder.mkdir(parents=True)
    for name in RULES if rules else ():
        (folder / f"{name}.yaml").write_text(re.sub(r"interval: \d+m", f"interval: {INTERVAL}s",
                                                    (rehearsal.RULES / f"{name}.yaml").read_text()))
    jobs = {job: [{"targets": [f"127.0.0.1:{targets.server_port}"], "labels": {
        "__metrics_path__": f"/{job}/{n}", "instance": f"node{n:05}:{port}"}} for n in range(nodes)]
        for job, port in generate.PORTS.items()}
    (folder / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": f"{INTERVAL}s", "evaluation_interval": f"{INTERVAL}s"},
        "rule_files": [str(folder / "*.yaml")],
        "scrape_configs": [{"job_name": job, "static_configs": these} for job, these in jobs.items()]}))
    port = programs.free_port()
    url = f"http://127.0.0.1:{port}"
    with programs.server([prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                          f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
                         f"{url}/-/ready", folder / "log"):
        time.sleep(INTERVAL * SCRAPES)
        before = programs.figures(url)
        time.sleep(INTERVAL * SCRAPES)
        after = programs.figures(url)
    return {"cpu": (after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]) / SCRAPES,
            "series": after["prometheus_tsdb_head_series"], "memory": after["process_resident_memory_bytes"],
            "time": sum(v for k, v in after.items() if k.startswith("prometheus_rule_group_last_duration_seconds")),
            "missed": sum(v for k, v in after.items() if k.startswith("prometheus_rule_group_iterations_missed_total"))}


def main():
    prometheus, folder, *counts = sys.argv[1:]
    targets = Targets()
    threading.Thread(target=targets.serve_forever, daemon=True).start()
    print("| nodes | series | memory | CPU of an evaluation | its time | series without rules | memory |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    for nodes in map(int, counts):
        without, rules = (measure(prometheus, pathlib.Path(folder) / f"{nodes}{on}", targets, nodes, on)
                          for on in (False, True))
        print(f"| {nodes:,} | {rules['series']:,.0f} | {rules['memory'] / 1e9:.2f} GB "
              f"| {rules['cpu'] - without['cpu']:.2f} s | {rules['time']:.2f} s | {without['series']:,.0f} "
              f"| {without['memory'] / 1e9:.2f} GB |", flush=True)
        if rules["missed"]:
            print(f"rule_cost.py: {rules['missed']:.0f} evaluations were missed: too slow a machine", file=sys.stderr)


if __name__ == "__main__":
    main()
