# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads every metrics file that a guest has left with all its readers."""
import subprocess

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from judge import Failure, Skip, need
from judge.checks import check_additive, check_histograms
from judge.reading import PREFIX, Metrics


def readers_accept_every_file(folder, promtool):
    files = sorted(folder.glob("**/*.prom"))
    if not files:
        raise Skip("these scenarios write no metrics file")
    for path in files:
        text = path.read_text(encoding="utf-8")
        try:
            families = list(text_string_to_metric_families(text))
        except ValueError as error:
            raise Failure(f"{path}: {error}") from error
        need(len(families) >= 6, path, "has", len(families), "families")
        metrics = Metrics(path)
        check_histograms(metrics)
        if not metrics.get("rpc_source", source="mountstats"):  # which has one phase
            check_additive(metrics)
    # promtool takes long for each file: only the largest of them.
    for path in sorted(files, key=lambda p: p.stat().st_size)[-3:] + \
            sorted(folder.glob("names/*.prom")):
        result = subprocess.run([promtool, "check", "metrics"], input=path.read_bytes(),
                                capture_output=True, check=False)
        errors = [line for line in result.stderr.decode().split("\n")
                  if line and not line.startswith(PREFIX)]
        need(not errors and result.returncode in (0, 3), path, errors[:5])
    return f"{len(files)} files"
