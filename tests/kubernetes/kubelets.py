#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stands for the kubelets of many nodes.

kubelets.py SERVER TOKEN run COUNT FOLDER
    Registers n0, n1, ...; renews their leases, and runs their pods: each is ready at once, but never with an image that
    ends with ":broken". Nodes named in FOLDER/dead do nothing. FOLDER/pods has a line for each start and end of a pod.
kubelets.py SERVER TOKEN patch BODY NODE
    As kubectl patch --subresource=status, which kubectl has from 1.24 on.
"""
import http.client
import json
import os
import ssl
import sys
import threading
import time

server, token, mode, *rest = sys.argv[1:]
context = ssl._create_unverified_context()
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
MERGE = "application/strategic-merge-patch+json"


def now(format="%Y-%m-%dT%H:%M:%SZ"):
    return time.strftime(format, time.gmtime())


def dead():
    try:
        with open(os.path.join(folder, "dead"), encoding="utf-8") as file:
            return set(file.read().split())
    except FileNotFoundError:
        return set()


def call(method, path, body=None, kind="application/json"):
    """The answer's status and object; status 0 if there is no answer."""
    connection = http.client.HTTPSConnection(server, context=context, timeout=10)
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": "Bearer " + token, "Content-Type": kind})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()


def register(name):
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
             "spec": {"holderIdentity": name}}
    for path, body in ("/api/v1/nodes", node), (LEASES, lease):
        while call("POST", path, body)[0] not in (201, 409):
            time.sleep(0.5)


def set_status(name, condition, **more):
    since = {"lastHeartbeatTime": now(), "lastTransitionTime": now()}
    status = {"conditions": [{**condition, **since}], **more}
    return call("PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, MERGE)[0] == 200


def ready(name):
    size = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    return set_status(name, {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""},
                      capacity=size, allocatable=size)


def renew():
    """As a kubelet: the lease often, the status seldom."""
    shown = {}
    while True:
        for name in names:
            if name in dead():
                continue
            call("PATCH", f"{LEASES}/{name}",
                 {"spec": {"renewTime": now("%Y-%m-%dT%H:%M:%S.000000Z"), "leaseDurationSeconds": 40}}, MERGE)
            if time.monotonic() > shown.get(name, 0) and ready(name):
                shown[name] = time.monotonic() + 10
        time.sleep(2)


def run(pod):
    """Does what a kubelet does next for a pod of its node."""
    meta, node = pod["metadata"], pod["spec"].get("nodeName")
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
    image = pod["spec"]["containers"][0]["image"]
    if node not in names or node in dead():
        return
    if meta.get("deletionTimestamp"):
        log.write(f"- {node} {meta['name']} {image}\n")
        call("DELETE", path, {"gracePeriodSeconds": 0})
    elif pod["status"].get("phase") == "Pending" and not image.endswith(":broken"):
        log.write(f"+ {node} {meta['name']} {image}\n")
        call("PATCH", path + "/status", {"status": {
            "phase": "Running", "startTime": now(),
            "conditions": [{"type": each, "status": "True", "lastTransitionTime": now()}
                           for each in ("Initialized", "Ready", "ContainersReady", "PodScheduled")],
            "containerStatuses": [{"name": each["name"], "image": each["image"], "imageID": each["image"],
                                   "ready": True, "restartCount": 0, "state": {"running": {"startedAt": now()}}}
                                  for each in pod["spec"]["containers"]]}}, MERGE)


def run_all():
    while True:
        for pod in (call("GET", "/api/v1/pods?resourceVersion=0")[1] or {}).get("items", []):
            run(pod)
        time.sleep(0.5)


if mode == "patch":
    sys.exit(call("PATCH", f"/api/v1/nodes/{rest[1]}/status", json.loads(rest[0]), MERGE)[0] != 200)
names = [f"n{i}" for i in range(int(rest[0]))]
folder = rest[1]
log = open(os.path.join(folder, "pods"), "w", buffering=1, encoding="utf-8")
for each in names:
    register(each)
threading.Thread(target=run_all, daemon=True).start()
renew()
