# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Evaluates the queries of docs/METRICS.md over files that an agent has written."""
import json
import re
import subprocess
import tempfile
from pathlib import Path

from judge import need
from judge.reading import Metrics


DOCUMENT = Path(__file__).parents[3] / "docs/METRICS.md"
SECONDS = 15  # from one file to the next
promtool = None  # its path


def documented(family):
    """The query of a family: the line after its name."""
    return re.search(rf"^# xidscope_{family}(?::.*)?\n(.*)$", DOCUMENT.read_text(), re.M)[1]


def check(query, files, expected):
    """The query over the files, as if Prometheus had read one every 15 s, has a result for each of @expected, which are
    sets of labels, and no other one."""
    files = [Metrics(path) for path in files]
    keys = {key for metrics in files for key in metrics.samples}
    series = [{"series": f"{name}{{{','.join(f'{k}={json.dumps(v)}' for k, v in (('instance', 'node'), *labels))}}}",
               "values": " ".join(str(m.samples.get((name, labels), "_")) for m in files)}
              for name, labels in keys]
    samples = [{"labels": "{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}", "value": 0}
               for labels in expected]
    test = {"evaluation_interval": f"{SECONDS}s", "tests": [{
        "interval": f"{SECONDS}s", "input_series": series, "promql_expr_test": [{
            "expr": f"({query}) * 0", "eval_time": f"{SECONDS * (len(files) - 1)}s", "exp_samples": samples}]}]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(test, file)
        file.flush()
        result = subprocess.run([promtool, "test", "rules", file.name], capture_output=True, text=True, check=False)
    need(result.returncode == 0, query, "gives", result.stdout + result.stderr)
