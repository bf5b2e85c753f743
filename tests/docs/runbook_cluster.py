#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the commands of docs/RUNBOOK.md for Kubernetes, run by the real kubectl, ask the API server for what
they should. The server is made up: it knows one node with the agent's pod, and refuses to make a stream or a pod, so
this shows what would run, not that it does. Exit code 77: no kubectl, or one of before 1.30.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
NODE = "gpu-7"
AGENT = "app.kubernetes.io/component=agent"
OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "xidscope", "uid": "u", "controller": True}
SELECTOR = {"app.kubernetes.io/name": "xidscope", "app.kubernetes.io/component": "agent"}
POD = {"apiVersion": "v1", "kind": "Pod",
       "metadata": {"name": "xidscope-x7", "namespace": "xidscope", "uid": "p", "labels": SELECTOR,
                    "ownerReferences": [OWNER]},
       "spec": {"nodeName": NODE, "containers": [{"name": "xidscope", "image": "xidscope"}]},
       "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
# A pod of `kubectl debug`, and one of somebody else: both have no labels, and have ended.
ENDED = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "xidscope", "uid": name},
          "spec": POD["spec"], "status": {"phase": "Succeeded"}} for name in ("node-debugger-gpu-7-x", "other")]
PODS = "/api/v1/namespaces/xidscope/pods"
EVERY = ["get", "list", "create", "patch", "delete"]
OBJECTS = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "groups": [
        {"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}]}]},
    "/apis/apps/v1": {"kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [
        {"name": "daemonsets", "singularName": "", "namespaced": True, "kind": "DaemonSet", "verbs": EVERY}]},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": "nodes", "singularName": "", "namespaced": False, "kind": "Node", "verbs": EVERY},
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": EVERY}]},
    "/api/v1/nodes/" + NODE: {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}, "spec": {}},
    "/api/v1/pods": {"apiVersion": "v1", "kind": "PodList", "items": [POD]},
    PODS: {"apiVersion": "v1", "kind": "PodList", "items": [POD]},
    PODS + "/xidscope-x7": POD,
    "/apis/apps/v1/namespaces/xidscope/daemonsets/xidscope": {
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "xidscope", "namespace": "xidscope"},
        "spec": {"selector": {"matchLabels": SELECTOR}, "template": {}}},
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass

    def answer(self, what, code=200):
        body = json.dumps(what).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def any(self):
        url = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(url.query)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, url.path, query, body))
        of_node = "fieldSelector" not in query or query["fieldSelector"] == ["spec.nodeName=" + NODE]
        of_node &= query.get("labelSelector", [AGENT]) == [AGENT]
        if query.get("fieldSelector") == ["spec.nodeName=" + NODE + ",status.phase!=Running"]:
            self.answer({"apiVersion": "v1", "kind": "PodList", "items": ENDED})
        elif url.path in OBJECTS and of_node and self.command != "POST":
            self.answer(OBJECTS[url.path])
        else:
            self.answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
                         "message": "made up"}, 403)

    do_GET = do_POST = do_PATCH = do_DELETE = any


def commands():
    """The functions for Kubernetes, and each line of the other blocks that uses them or kubectl."""
    blocks = re.findall(r"(?:^    .*\n)+", (TOP / "docs/RUNBOOK.md").read_text(), re.M)
    functions = [b for b in blocks if b.startswith("    # Kubernetes")]
    lines = [line.strip() for b in blocks if "()" not in b for line in b.splitlines()]
    return functions[0], [line for line in lines if re.search(r"\b(on|host|drain|agent|kubectl)\b", line)] + ["undrain"]


def expected(line):
    """The words of each command that is to run in the agent's pod, and on the node."""
    for part in re.split(r";|\||\)", line):
        words = part.replace('drain "$(', "").split()
        if words and words[0] in ("on", "host"):
            yield words[0], words[1]


def asked_for(asked):
    """What was asked for: ("on", program), ("host", program), "cordon", "uncordon"."""
    for method, path, query, body in asked:
        if path == PODS + "/xidscope-x7/exec":
            yield "on", query["command"][0]
        elif method == "POST" and path == PODS:
            # Protocol buffers: a byte for the field and one for the length are before each text.
            command = re.search(rb"\x1a\x06chroot\x1a\x05/host\x1a(.)", body, re.S)
            program = body[command.end():command.end() + command.group(1)[0]].decode()
            is_of_node, is_privileged = b"R\x05gpu-7" in body, b"z\x02\x10\x01" in body
            yield ("host" if is_of_node and is_privileged else "elsewhere"), program
        elif method == "DELETE" and "/node-debugger-" not in path:
            yield "delete", path
        elif method == "PATCH":
            yield "cordon" if b"true" in body else "uncordon"


def main():
    kubectl = shutil.which("kubectl")
    if not kubectl or "sysadmin" not in subprocess.run([kubectl, "debug", "--help"], stdout=subprocess.PIPE, text=True,
                                                       check=True).stdout:
        print("no kubectl whose debug has the profile sysadmin")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(run(folder))


def run(folder):
    """Runs all lines; returns whether one asks for something else."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(folder + "/config", "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                   "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                   "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}]}, file)
    environment = dict(os.environ, KUBECONFIG=folder + "/config", HOME=folder,
                       NODE=NODE, XID="79", SXID="20034", SERVER="nas", GPU="g", DEVICE="eth0")
    functions, lines = commands()
    failed = False
    for line in lines:
        server.asked = []
        OBJECTS["/api/v1/nodes/" + NODE]["spec"] = {"unschedulable": line.startswith("un")}
        done = subprocess.run(["bash", "-c", functions + line], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=60, check=False)
        want = set(expected(line))
        if re.match(r"(un)?drain\b", line):
            want.add("uncordon" if line.startswith("un") else "cordon")
        asked = set(asked_for(server.asked))
        if want != asked or not server.asked or "unknown flag" in done.stdout:
            failed = True
            print(f"{line}: asks for {asked} instead of {want}: {done.stdout}")
    print(f"{len(lines)} lines of commands ask the API server for what they should")
    return failed


main()
