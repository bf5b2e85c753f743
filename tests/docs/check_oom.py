#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the kernel kills jobs before our pods when memory is full: each has -997 as its oom_score_adj.

By Kubernetes' pkg/kubelet/qos/policy.go (1.20 to 1.34) that is so for a pod of a critical priority, and for one whose
containers all have limits of CPU and memory and no other requests; a missing request is the limit.
"""
import sys
from pathlib import Path

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"


def is_kept(pod):
    if pod.get("priorityClassName") in ("system-node-critical", "system-cluster-critical"):
        return True
    for container in pod["containers"] + pod.get("initContainers", []):
        limits = container.get("resources", {}).get("limits", {})
        if not {"cpu", "memory"} <= limits.keys() or {**limits, **container["resources"].get("requests", {})} != limits:
            return False
    return True


def main():
    pods = {}
    for file in sorted(DEPLOY.rglob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        for manifest in yaml.safe_load_all(text) if "kind: DaemonSet" in text else ():
            pod = manifest["spec"]["template"]["spec"] if manifest["kind"] == "DaemonSet" else {"containers": [{}]}
            if "resources" in pod["containers"][0]:  # otherwise a patch of another file's
                pods[file.relative_to(DEPLOY)] = is_kept(pod)
    print("\n".join(f"{file}: {'kept' if kept else 'KILLED as jobs are'}" for file, kept in pods.items()))
    sys.exit(not pods or not all(pods.values()))


main()
