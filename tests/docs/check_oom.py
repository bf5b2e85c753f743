#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the kernel kills jobs before our pods when memory is full, by the kubelet's rules for oom_score_adj."""
import re
import sys
from pathlib import Path

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
OWN = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
UNITS = {"m": 0.001, "": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def quantity(text):
    number, unit = re.fullmatch(r"([0-9.]+)(m|Ki|Mi|Gi|)", str(text)).groups()
    return float(number) * UNITS[unit]


def oom_score_adj(pod, container, capacity):
    """As in Kubernetes' pkg/kubelet/qos/policy.go (1.20 to 1.34); a missing request is the limit."""
    sets = []
    for each in pod["containers"] + pod.get("initContainers", []):
        limits = each.get("resources", {}).get("limits", {})
        sets.append(({**limits, **each.get("resources", {}).get("requests", {})}, limits))
    same = all(quantity(requests[name]) == quantity(limits[name])
               for requests, limits in sets for name in ("cpu", "memory") if name in requests and name in limits)
    if OWN.get(pod.get("priorityClassName"), 0) >= 2_000_000_000:
        return -997
    if same and all({"cpu", "memory"} <= limits.keys() for _, limits in sets):
        return -997
    if not any(requests for requests, _ in sets):
        return 1000
    requests = {**container["resources"].get("limits", {}), **container["resources"].get("requests", {})}
    score = 1000 - int(1000 * quantity(requests.get("memory", 0)) / capacity)
    return min(max(score, 3), 999)


def main():
    failed = False
    burstable = {"containers": [{"resources": {"requests": {"memory": "48Mi"}, "limits": {"memory": "96Mi"}}}]}
    assert oom_score_adj(burstable, burstable["containers"][0], 2 * 2**40) == 999
    for file in sorted(DEPLOY.rglob("*.yaml")):
        if "kind: DaemonSet" not in file.read_text(encoding="utf-8"):
            continue
        for manifest in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            pod = manifest["spec"]["template"]["spec"] if manifest["kind"] == "DaemonSet" else {"containers": [{}]}
            if "resources" not in pod["containers"][0]:
                continue
            scores = [oom_score_adj(pod, container, 2 * 2**40) for container in pod["containers"]]
            print(f"{file.relative_to(DEPLOY)}: oom_score_adj {scores} on a node with 2 TiB")
            failed |= any(score > -997 for score in scores)
    sys.exit(failed)


main()
