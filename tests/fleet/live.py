#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves, with a real Prometheus, a real Alertmanager and 63 targets, that a dead storage system is one page and not
63, and that each query of the dashboards returns something.

    live.py PROMETHEUS ALERTMANAGER SAMPLE FOLDER

Target 0 serves the file SAMPLE, which has every family of the agent; its counters grow. The others serve what a node
with an agent, node_exporter and dcgm-exporter has. A minute of rules and routes is a second here. After a while the
storage system of all nodes stops answering; a call to another one hangs on one node alone.
"""
import json
import pathlib
import re
import sys
import threading
import time

import programs

NODES = 63
TOP = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = TOP / "deploy/prometheus"
COUNTER = re.compile(r"^(\w+(?:_total|_bucket|_sum|_count)(?:\{.*\})?) (\S+)$", re.M)


class State:
    """What the targets serve, and what the receivers have got."""
    def __init__(self, sample):
        self.sample, self.start, self.dead, self.pages = sample, time.time(), False, []

    def text(self, node):
        now = time.time()
        age = now - self.start
        text = f'node_uname_info{{nodename="node{node}"}} 1\n' \
            f'node_textfile_mtime_seconds{{file="/textfile/xidscope.prom"}} {now}\n'
        if node == 0:
            return text + COUNTER.sub(lambda m: f"{m[1]} {float(m[2]) * (1 + age / 100):.9f}", self.sample)
        calls = 100 * (10 if self.dead else age)
        waits = 90 if self.dead else 0.01
        text += f"""xidscope_build_info{{version="0.1.0"}} 1
xidscope_node_health{{check="xid_fatal"}} {2 if node == 9 and self.dead else 0}
xidscope_rpc_source{{source="btf"}} 1
xidscope_rpc_server_info{{server="10.0.0.{node}",storage="pool"}} 1
xidscope_rpc_op_calls_total{{server="10.0.0.{node}",op="READ"}} {calls}
xidscope_rpc_retransmits_total{{server="10.0.0.{node}",transport="tcp/0"}} 0
xidscope_rpc_saturated_seconds_total{{server="10.0.0.{node}",transport="tcp/0",limit="slot"}} 0
xidscope_rpc_oldest_waiter_seconds{{server="10.0.0.{node}",queue="pending"}} {waits}
xidscope_rpc_phase_seconds_sum{{server="10.0.0.{node}",phase="rtt"}} {calls / 1000}
xidscope_rpc_phase_seconds_count{{server="10.0.0.{node}",phase="rtt"}} {calls}
xidscope_rpc_limit{{server="10.0.0.{node}",limit="{'hung' if self.dead else 'application'}"}} 1
xidscope_checkpoint_episode_seconds_sum{{server="10.0.0.{node}",kind="save"}} {age}
xidscope_checkpoint_episode_bytes_sum{{server="10.0.0.{node}",kind="save"}} {1e9 * age}
DCGM_FI_DEV_PCIE_REPLAY_COUNTER{{gpu="0",UUID="GPU-{node}"}} 0
"""
        if node == 7:
            text += f'xidscope_rpc_oldest_waiter_seconds{{server="other",queue="pending"}} {waits}\n'
        return text


class Handler(programs.Handler):
    def do_GET(self):  # pylint: disable=invalid-name # http.server's
        self.answer(self.server.state.text(int(self.path[1:])).encode())

    def do_POST(self):  # pylint: disable=invalid-name # http.server's
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.state.pages.append((self.path[1:], body["status"], [a["labels"] for a in body["alerts"]
                                                                        if a["status"] == "firing"]))
        self.answer(b"")


def query(port, text):
    return json.loads(programs.fetch(f"http://127.0.0.1:{port}/api/v1/query", timeout=30, query=text))["data"]["result"]


def wait(what, seconds, message):
    end = time.monotonic() + seconds
    while True:
        try:
            if what():
                return
        except OSError:
            pass
        if time.monotonic() > end:
            sys.exit(f"live.py: {message} within {seconds} s")
        time.sleep(0.5)


def seconds_for_minutes(text):
    """Minutes of rules and routes become seconds; ranges of queries stay, but for one that looks at full hours."""
    text = text.replace("[30d:1h]", "[1m:1s]")
    text = re.sub(r"((?:for|interval|_interval): )(\d+)m$", r"\g<1>\g<2>s", text, flags=re.M)
    return re.sub(r"(group_wait: )30s", r"\g<1>3s", text)


def configure(folder, targets, manager):
    for name in ("nodes", "peers", "reliability", "alerts"):
        (folder / f"{name}.yaml").write_text(seconds_for_minutes((RULES / f"{name}.yaml").read_text()))
    (folder / "alertmanager.yml").write_text(seconds_for_minutes(
        (RULES / "alertmanager.yml").read_text()).replace("127.0.0.1:9095", f"127.0.0.1:{targets}"))
    (folder / "targets.json").write_text(json.dumps([
        {"targets": [f"127.0.0.1:{targets}"], "labels": {"__metrics_path__": f"/{n}", "instance": f"node{n}:9100"}}
        for n in range(NODES)]))
    (folder / "prometheus.yml").write_text(f"""global: {{scrape_interval: 2s, evaluation_interval: 1s}}
rule_files: ["{folder}/*.yaml"]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{manager}"]}}]}}]}}
scrape_configs: [{{job_name: node, file_sd_configs: [{{files: [targets.json]}}]}}]
""")


def check_pages(state, port):
    hanging = query(port, 'count(ALERTS{alertname="NfsCallHangs", alertstate="firing"})')
    if not hanging or int(hanging[0]["value"][1]) < NODES - 1:
        sys.exit(f"live.py: NfsCallHangs fires for {hanging}, not for {NODES - 1} nodes: nothing to inhibit")
    dead = [page for page in state.pages if any(a["alertname"] == "NfsServerDead" for a in page[2])]
    if len(dead) != 1 or dead[0][0] != "pager" or len(dead[0][2]) != 1 or dead[0][2][0]["storage"] != "pool":
        sys.exit(f"live.py: the dead storage system is not one page: {dead}")
    told = {a["instance"] + " " + a["storage"] for _, _, alerts in state.pages for a in alerts
            if a["alertname"] == "NfsCallHangs"}
    if told != {"node7:9100 other"}:
        sys.exit(f"live.py: NfsCallHangs is told of {told}, not of the one call that another storage system leaves")
    print(f"{hanging[0]['value'][1]} nodes wait for a dead storage system: one page; the other call that hangs: told")


def check_dashboards(port):
    """Each query, with the variables as they are set for the node of target 0."""
    values = {"$__rate_interval": "1m", "$instance": "node0:9100", "$server": ".*"}
    queries = 0
    for path in sorted((TOP / "deploy/grafana").glob("*.json")):
        page = json.loads(path.read_text())
        variables = [(v["name"], re.sub(r"label_values\((.*), (\w+)\)", r"group by (\2) (\1)", v["query"]["query"]))
                     for v in page["templating"]["list"] if v["type"] == "query"]
        for title, text in variables + [(p["title"], t["expr"]) for p in page["panels"] for t in p["targets"]]:
            for name, value in values.items():
                text = text.replace(name, value)
            queries += 1
            # On a busy machine a scrape may be late, and what it had is not there for a moment.
            wait(lambda text=text: query(port, text), 10, f"{path.name}: {title}: no result of {text}")
    print(f"{queries} queries of the dashboards return something")


def main():
    prometheus, manager, sample, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    server = programs.Targets(Handler)
    server.state = state = State(pathlib.Path(sample).read_text())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ports = programs.free_port(), programs.free_port()
    configure(folder, server.server_port, ports[1])
    commands = (["unshare", "--map-root-user", "--mount", manager, f"--config.file={folder}/alertmanager.yml",
                 f"--storage.path={folder}/manager", "--cluster.listen-address=",
                 f"--web.listen-address=127.0.0.1:{ports[1]}"],
                [prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{ports[0]}"])
    with programs.server(commands[0], f"http://127.0.0.1:{ports[1]}/-/ready", folder / "log", 60), \
            programs.server(commands[1], f"http://127.0.0.1:{ports[0]}/-/ready", folder / "log", 60):
        wait(lambda: query(ports[0], f"count(node:signal) > {NODES}"), 60, "no signals of all nodes")
        time.sleep(10)
        state.dead = True
        hanging = 'count(ALERTS{alertname="NfsCallHangs", alertstate="firing"})'
        wait(lambda: query(ports[0], f"{hanging} > {NODES - 2}"),
             60, "calls that hang on all nodes do not fire NfsCallHangs")
        wait(lambda: any(a["alertname"] == "NfsServerDead" for page in state.pages for a in page[2]), 60,
             "no notification of NfsServerDead")
        time.sleep(10)
        check_pages(state, ports[0])
        check_dashboards(ports[0])


main()
