#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the answers of VictoriaMetrics and Prometheus to each rule of deploy/prometheus.

    compare.py [--option VALUE]... PROMTOOL PROMETHEUS VICTORIA-METRICS VMALERT FOLDER VMCTL

The options are those of rehearsal.py. After its passes, vmctl copies all of Prometheus' blocks, so both have the same
samples, those of the rules among them; then both are asked for each rule's expression in some hours, a minute apart.
"""
import json
import sys

import yaml

import programs
import rehearsal
from generate import DAY, STEP

HOURS = 6
TOLERANCE = 1e-6


def answers(url, expr, end):
    """By labels and time, as text and seconds: the values."""
    data = json.loads(programs.fetch(f"{url}/api/v1/query_range", query=expr, start=end - HOURS * 3600, end=end,
                                     step=STEP, nocache=1))["data"]["result"]
    return {(json.dumps({k: v for k, v in series["metric"].items() if k != "__name__"}, sort_keys=True), time): float(v)
            for series in data for time, v in series["values"]}


def compare(prometheus, victoria, end):
    rules = [(rule.get("record") or rule["alert"], rule) for path in sorted(rehearsal.RULES.glob("*.yaml"))
             for group in yaml.safe_load(path.read_text()).get("groups", ()) for rule in group["rules"]]
    same = 0
    for name, rule in rules:
        ours, theirs = answers(prometheus, rule["expr"], end), answers(victoria, rule["expr"], end)
        both = ours.keys() & theirs.keys()
        wrong = [key for key in both if abs(ours[key] - theirs[key]) > TOLERANCE * max(1, abs(ours[key]))]
        if ours.keys() == theirs.keys() and not wrong:
            same += 1
            continue
        most = max(wrong, key=lambda key: abs(ours[key] - theirs[key]), default=None)
        print(f"{name} {rule.get('labels', {}).get('signal', '')}: Prometheus has {len(ours)} values, VictoriaMetrics "
              f"{len(theirs)}, both {len(both)}, other than Prometheus' {len(wrong)}"
              + (f", such as {theirs[most]:.6g} for {ours[most]:.6g}" if most else ""))
    print(f"{same} of {len(rules)} rules have the same answers in {HOURS} hours")


def main():
    *arguments, vmctl = sys.argv[1:]
    run = rehearsal.Rehearsal(rehearsal.parser().parse_args(arguments))
    run.backfill()
    run.passes()
    port = programs.free_port()
    store = f"http://127.0.0.1:{port}"

    def victoria():
        return programs.server([run.tools.victoria, f"-storageDataPath={run.folder}/victoria", "-retentionPeriod=100y",
                                f"-httpListenAddr=127.0.0.1:{port}", "-search.maxPointsPerTimeseries=100000",
                                # As Prometheus' lookback: what is not there at a minute has ended.
                                f"-search.maxStalenessInterval={STEP}s"],
                               f"{store}/health", run.folder / "victoria.log")

    with victoria():
        # vmctl wants a terminal.
        run.run("script", "-qefc", f"'{vmctl}' prometheus -s --prom-snapshot='{run.data}' --vm-addr={store}",
                "/dev/null")
    # Started again, it finds all that was copied, at once.
    with run.prometheus() as url, victoria():
        compare(url, store, run.end - DAY // 24 * STEP)


if __name__ == "__main__":
    main()
