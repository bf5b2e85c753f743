#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the examples of deploy/kubernetes/remediation have the fields that their engines know, and name the
condition that node-problem-detector sets.

The schemas are our own, written after NodeHealthCheck's resource definition (v1alpha1, July 2026) and NVSentinel's page
on its Kubernetes object monitor (1.28). They have the fields that a site may want to use; an unknown field is an error.
"""
import json
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
REMEDIATION = ROOT / "deploy/kubernetes/remediation"
DURATION = r"([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+"
SHARE = r"(100|[0-9]{1,2})%|[0-9]+"

# A field: a type, a pattern of a text, a list of one schema, or an object. "!" before a name: the field must be there.
NODE_HEALTH_CHECK = {
    "!apiVersion": "remediation.medik8s.io/v1alpha1",
    "!kind": "NodeHealthCheck",
    "!metadata": {"!name": "[a-z0-9-]+"},
    "!spec": {
        "!selector": {"matchLabels": dict, "matchExpressions": [{"!key": str, "!operator": str, "values": [str]}]},
        "minHealthy": SHARE,
        "maxUnhealthy": SHARE,
        "!unhealthyConditions": [{"!type": str, "!status": "True|False|Unknown", "!duration": DURATION}],
        "remediationTemplate": {"!apiVersion": str, "!kind": str, "!name": str, "namespace": str},
        "pauseRequests": [str],
    },
}
POLICY = {
    "!name": str,
    "!enabled": bool,
    "!resource": {"!group": "", "!version": "v1", "!kind": "Node"},
    "!predicate": {"!expression": str},
    "!healthEvent": {
        "!componentClass": str,
        "!isFatal": bool,
        "!message": str,
        "!recommendedAction": "NONE|CONTACT_SUPPORT|RESTART_VM|RESTART_BM|REPLACE_VM|COMPONENT_RESET",
        "!errorCode": ["[A-Z_]+"],
    },
}
VALUES = {
    "!global": {"!kubernetesObjectMonitor": {"!enabled": bool}},
    "!kubernetes-object-monitor": {"!policies": [POLICY]},
}


def mistakes(value, schema, path):
    if isinstance(schema, type):
        if not isinstance(value, schema):
            yield f"{path} is no {schema.__name__}"
    elif isinstance(schema, str):
        if not isinstance(value, str) or not re.fullmatch(schema, value):
            yield f"{path} is {value!r}, which {schema!r} does not allow"
    elif isinstance(schema, list):
        if not isinstance(value, list) or not value:
            yield f"{path} is no list"
            return
        for i, element in enumerate(value):
            yield from mistakes(element, schema[0], f"{path}[{i}]")
    elif not isinstance(value, dict):
        yield f"{path} is no object"
    else:
        known = {name.lstrip("!"): name for name in schema}
        yield from (f"{path}.{name} is not known" for name in value if name not in known)
        for name, key in known.items():
            if name in value:
                yield from mistakes(value[name], schema[key], f"{path}.{name}")
            elif key != name:
                yield f"{path}.{name} is missing"


def check():
    condition = json.loads((ROOT / "deploy/npd/xidscope-monitor.json").read_text())["rules"][0]["condition"]
    check_file = yaml.safe_load((REMEDIATION / "node-health-check.yaml").read_text())
    values = yaml.safe_load((REMEDIATION / "nvsentinel-values.yaml").read_text())
    yield from mistakes(check_file, NODE_HEALTH_CHECK, "node-health-check.yaml")
    yield from mistakes(values, VALUES, "nvsentinel-values.yaml")
    if "minHealthy" in check_file["spec"] or "maxUnhealthy" not in check_file["spec"]:
        yield "node-health-check.yaml has no maxUnhealthy, or minHealthy as well"
    if [(c["type"], c["status"]) for c in check_file["spec"]["unhealthyConditions"]] != [(condition, "True")]:
        yield f"node-health-check.yaml does not act on {condition}=True alone"
    expression = values["kubernetes-object-monitor"]["policies"][0]["predicate"]["expression"]
    if f'c.type == "{condition}" && c.status == "True"' not in expression:
        yield f"nvsentinel-values.yaml does not act on {condition}=True"
    # A misspelt field must be found, or nothing is proved.
    check_file["spec"]["maxUnhealty"] = "20%"
    if not any("maxUnhealty" in each for each in mistakes(check_file, NODE_HEALTH_CHECK, "")):
        yield "a field that does not exist is not found"


found = list(check())
for each in found:
    print(f"check_remediation.py: {each}", file=sys.stderr)
sys.exit(bool(found))
