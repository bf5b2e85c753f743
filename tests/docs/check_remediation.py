#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the examples of deploy/kubernetes/remediation have the fields that their engines know, by the schemas of
tests/data/remediation.schema.json, and name the condition that node-problem-detector sets."""
import json
import sys
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).parents[2]
SCHEMAS = json.loads((ROOT / "tests/data/remediation.schema.json").read_text())["$defs"]


def mistakes(name, value):
    for error in jsonschema.Draft202012Validator(SCHEMAS[name]).iter_errors(value):
        yield f"{name}: {error.json_path}: {error.message}"


def check():
    condition = json.loads((ROOT / "deploy/npd/xidscope-monitor.json").read_text())["rules"][0]["condition"]
    files = {name: yaml.safe_load((ROOT / "deploy/kubernetes/remediation" / name).read_text()) for name in SCHEMAS}
    for name, value in files.items():
        yield from mistakes(name, value)
    node_check, values = files.values()
    if [(c["type"], c["status"]) for c in node_check["spec"]["unhealthyConditions"]] != [(condition, "True")]:
        yield f"node-health-check.yaml does not act on {condition}=True alone"
    expression = values["kubernetes-object-monitor"]["policies"][0]["predicate"]["expression"]
    if f'c.type == "{condition}" && c.status == "True"' not in expression:
        yield f"nvsentinel-values.yaml does not act on {condition}=True"
    # A misspelt field must be found, or nothing is proved.
    node_check["spec"]["maxUnhealty"] = "20%"
    if not any("maxUnhealty" in each for each in mistakes("node-health-check.yaml", node_check)):
        yield "a field that does not exist is not found"


found = list(check())
for each in found:
    print(f"check_remediation.py: {each}", file=sys.stderr)
sys.exit(bool(found))
