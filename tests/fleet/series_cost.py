#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures memory, CPU and time of a Prometheus that scrapes N nodes, and fits a line to them.

    series_cost.py PROMETHEUS FOLDER FILE LATER-FILE

Every target serves FILE; with each scrape its counters grow by as much as they do to LATER-FILE, a file of the same
agent. So what stands still in a real file stands still here. Prints a table.
"""
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

import programs

INTERVAL = 15
SCRAPES = 6  # before the measurement, and again during it
NODES = (63, 250, 1000)
SAMPLE = re.compile(r"^(\S+(?:\{.*\})?) (\S+)$")


def read(path):
    """Lines of a file: comments as they are, samples as (name and labels, value)."""
    lines = []
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        match = None if line.startswith("#") else SAMPLE.match(line)
        lines.append((match[1], float(match[2])) if match else line)
    return lines


class Targets(programs.Targets):
    """Serves the file at any path, as it is after so many intervals."""
    def __init__(self, first, later):
        super().__init__(Handler)
        then = dict(sample for sample in later if isinstance(sample, tuple))
        self.lines = [line if isinstance(line, str) else
                      (line[0], line[1], then.get(line[0], line[1]) - line[1]) for line in first]
        self.texts, self.lock = {}, threading.Lock()

    def text(self):
        count = int(time.monotonic() / INTERVAL)
        with self.lock:
            if count not in self.texts:
                self.texts = {count: "".join(
                    f"{line}\n" if isinstance(line, str) else f"{line[0]} {line[1] + line[2] * (count % 100000):.9f}\n"
                    for line in self.lines).encode()}
            return self.texts[count]


class Handler(programs.Handler):
    def do_GET(self):  # pylint: disable=invalid-name # http.server's
        self.answer(self.server.text(), "application/openmetrics-text; version=1.0.0; charset=utf-8")


def appended(metrics):
    """Later versions have it by type of sample."""
    return sum(value for name, value in metrics.items()
               if name.startswith("prometheus_tsdb_head_samples_appended_total"))


def measure(prometheus, work, targets, nodes):
    """A fresh Prometheus with so many nodes."""
    port = programs.free_port()
    url = f"http://127.0.0.1:{port}"
    folder = work / str(nodes)
    folder.mkdir()
    names = [f"127.0.0.1:{targets.server_port}"]
    jobs = [{"targets": names, "labels": {"__metrics_path__": f"/{n}", "instance": f"node-{n:05}.cluster.example:9100"}}
            for n in range(nodes)]
    (folder / "targets.json").write_text(json.dumps(jobs))
    (folder / "prometheus.yml").write_text(
        f"global: {{scrape_interval: {INTERVAL}s, scrape_timeout: {INTERVAL}s}}\n"
        "scrape_configs:\n- job_name: node\n  file_sd_configs: [{files: [targets.json]}]\n")
    with programs.server([prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                          f"--web.listen-address=127.0.0.1:{port}"], f"{url}/-/ready", folder / "log", 120):
        time.sleep(INTERVAL * SCRAPES)
        before = programs.figures(url)
        time.sleep(INTERVAL * SCRAPES)
        after = programs.figures(url)
        programs.fetch(f"{url}/debug/pprof/heap", timeout=60, gc=1, debug=1)  # collects garbage
        heap = programs.figures(url)["go_memstats_heap_alloc_bytes"]
        last = json.loads(programs.fetch(f"{url}/api/v1/query", timeout=60, query="sum(scrape_samples_scraped)"))
    ingested = appended(after) - appended(before)
    scraped = float(last["data"]["result"][0]["value"][1])
    if abs(ingested / SCRAPES / scraped - 1) > 0.15:
        sys.exit(f"{nodes} nodes: {ingested:.0f} samples in {SCRAPES} scrapes of {scraped:.0f}: too slow a machine")
    return {"nodes": nodes, "series": after["prometheus_tsdb_head_series"], "heap": heap,
            "resident": after["process_resident_memory_bytes"],
            "cpu": (after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]) / INTERVAL / SCRAPES,
            "rate": ingested / INTERVAL / SCRAPES}


def slope(rows, key, by):
    """Of the line through the least and the largest."""
    return (rows[-1][key] - rows[0][key]) / (rows[-1][by] - rows[0][by])


def main():
    prometheus, work, *files = sys.argv[1:]
    first, later = map(read, files)
    targets = Targets(first, later)
    threading.Thread(target=targets.serve_forever, daemon=True).start()
    rows = [measure(prometheus, pathlib.Path(work), targets, nodes) for nodes in NODES]
    samples = sum(isinstance(line, tuple) for line in first)
    version = subprocess.run([prometheus, "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    text = f"Prometheus {version}, a scrape every {INTERVAL} s of {samples} samples of a node, after " \
        f"{2 * SCRAPES} scrapes:\n\n"
    text += "| nodes | series in the head | memory, resident | of it live, after a collection | CPU, of a core |\n"
    text += "| --- | --- | --- | --- | --- |\n"
    for row in rows:
        text += f"| {row['nodes']:,} | {row['series']:,.0f} | {row['resident'] / 1e9:.2f} GB | " \
            f"{row['heap'] / 1e9:.2f} GB | {row['cpu']:.3f} |\n"
    bytes_each, live_each = slope(rows, "resident", "series"), slope(rows, "heap", "series")
    cpu_each = slope(rows, "cpu", "rate")
    most = 10000
    base, cpu_base = (rows[-1][key] - each * rows[-1][by] for key, each, by in
                      (("resident", bytes_each, "series"), ("cpu", cpu_each, "rate")))
    series = rows[-1]["series"] / rows[-1]["nodes"] * most
    text += f"| {most:,}, by the slopes | {series:,.0f} | {(base + bytes_each * series) / 1e9:.0f} GB | " \
        f"{(rows[-1]['heap'] + live_each * (series - rows[-1]['series'])) / 1e9:.0f} GB | " \
        f"{cpu_base + cpu_each * rows[-1]['rate'] / rows[-1]['nodes'] * most:.1f} |\n"
    text += f"\nA series costs {bytes_each:,.0f} bytes resident ({live_each:,.0f} live), a million samples " \
        f"{cpu_each * 1e6:.1f} s of CPU.\n"
    print(text, end="")


main()
