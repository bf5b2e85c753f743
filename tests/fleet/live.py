#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves, with a real Prometheus and a real Alertmanager, what people are told of the incidents of 63 nodes: each
notification is expected, and each one expected comes.

    live.py [--sample FILE] PROMETHEUS ALERTMANAGER FOLDER STATES

STATES has the files that an agent wrote in each state of a node, named SECONDS-STATE. Each node serves those of its
state, one after the other; incidents bring nodes into other states. With a sample, which has every family of the agent,
only the short list of incidents is played, and the dashboards' queries are tried on it.

Time runs faster for rules and routes: all durations in them are divided by SPEED. What an agent writes is not changed
by it: rates and shares of time are the same. Ages with which rules compare are divided by AGES, so that what is slow is
not taken for hung.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import programs

NODES = 63
SPEED = 20
AGES = 10
FAILURE = 8
TOP = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = TOP / "deploy/prometheus"

# From second to second these nodes are in this state. A receiver is told of each alert that stands after its name: once
# that it fires, and once that it is over. The alerts of the last list are inhibited: each after its cause. Alerts have
# these labels, among others.
Incident = collections.namedtuple("Incident", "begin end nodes state told inhibited")
RECORDED = (
    Incident(10, 38, [42], "two_xids", [], []),
    Incident(38, 66, [42], "warned", ["tickets GpuRepeats node=node42"],
             ["GpuRepeats NodeWarns node=node42 check=xid_hardware"]),
    Incident(10, 35, [41], "warned", ["tickets NodeWarns node=node41 check=xid_hardware"], []),
    Incident(10, 30, [43], "hung", ["tickets NfsCallHangs node=node43 storage=home queue=pending"], []),
    Incident(10, 40, [44], "stale", ["tickets XidscopeFileStale node=node44"], []),
    Incident(10, 70, [45], "stopped", ["tickets XidscopeGone node=node45"], []),
    Incident(10, 105, [46], "down", ["pager NodeDown node=node46"], []),
    Incident(45, 65, [46], "replays", [], ["NodeDown NodeDeviates node=node46"]),
    Incident(10, 40, [*range(40), *range(48, 63)], "storm", ["tickets NfsRetransmitStorm storage=pool"], []),
    # Before many nodes are slow: when the end of one is told, Alertmanager adds others whose end was not long ago.
    Incident(10, 75, [47], "slow", ["tickets NfsLimitSaturated node=node47 limit=slot"], []),
    Incident(110, 185, range(40), "slow", ["tickets NfsBottleneck storage=pool"],
             ["NfsBottleneck NfsLimitSaturated storage=pool limit=slot"]),
    Incident(110, 138, [40], "two_xids", [], []),
    Incident(138, 166, [40], "failed", [
        "pager NodeUnfit node=node40 check=xid_fatal",
        "pager NodeUnfit node=node40 check=sxid_fatal",
    ], [
        "NodeUnfit NodeWarns node=node40 check=xid_hardware",
        "NodeUnfit GpuFatalXid node=node40 xid=79",
        "NodeUnfit NvswitchFatalSxid node=node40 sxid=20034",
        "NodeUnfit GpuRepeats node=node40",
    ]),
    Incident(250, 305, range(60), "dead", ["pager NfsServerDead storage=pool"],
             ["NfsServerDead NfsCallHangs storage=pool"]),
    Incident(305, 317, range(60), "back", [], []),
    Incident(317, 365, [], "usual", [], []),
)
SHORT = (
    Incident(2, 15, range(60), "dead", ["pager NfsServerDead storage=pool"],
             ["NfsServerDead NfsCallHangs storage=pool"]),
    Incident(2, 15, [62], "hung", ["tickets NfsCallHangs node=node62 storage=home"], []),
    # In less than what is a minute here. One message has all nine (check_together).
    Incident(16, 65, range(20, 24), "down", [f"pager NodeDown node=node{n}" for n in range(20, 24)], []),
    Incident(18, 65, range(24, 29), "down", [f"pager NodeDown node=node{n}" for n in range(24, 29)], []),
    Incident(65, 80, [], "usual", [], []),
)
# What a node does that the agent's files do not show: it, or its agent, has ended, or dcgm-exporter counts replays.
NO_STATES = ("stale", "stopped", "down", "replays")
# The sample's node is in a job, whose episodes end at all times.
SAMPLE_JOB = r"""fleet_node_job_info{workload="4711"} 1
fleet_storage_max_bytes_per_second{storage="scratch 0 \"\\",direction="write"} 1e9
fleet_storage_max_bytes_per_second{storage="scratch 0 \"\\",direction="read"} 1e9
fleet_storage_max_bytes_per_second{storage="127.0.0.1",direction="write"} 1e7
"""
COUNTER = re.compile(r"\w+_(total|bucket|sum|count)[{ ]")
TIMESTAMP = re.compile(r"\w+_timestamp_seconds[{ ]")
OWN = re.compile(r"\b10\.0\.([12])\.([12])\b|\b0000:c([13]):00\.0")


def read_states(folder):
    """Of each state the files in order of time: [(time, [(series, value)])]."""
    def samples(path):
        return [line.rsplit(" ", 1) for line in path.read_text().splitlines() if line and line[0] != "#"]
    states = collections.defaultdict(list)
    for path in sorted(folder.glob("[0-9]*-*"), key=lambda path: float(path.name.split("-")[0])):
        written, state = path.name.split("-")
        states[state].append((float(written), samples(path)))
    return states


class Node:
    """The targets of a node: its node_exporter, with the agent's files, and its dcgm-exporter."""
    def __init__(self, number, states):
        self.number, self.states, self.events, self.replays = number, states, set(), 0
        self.state, self.files, self.place, self.added = "usual", states["usual"], 0, {}
        self.lock = threading.Lock()
        self.enter("usual", number % len(self.files))

    def counters(self):
        return {series: float(value) + self.added.get(series, 0) for series, value in self.files[self.place][1]
                if COUNTER.match(series)}

    def enter(self, state, place=0):
        """Counters that the node has had go on from where they are."""
        shown = self.counters()
        self.files, self.place = self.states[state], place
        self.begin = time.time() - self.files[place][0]
        self.added = {}
        self.added = {series: shown[series] - value for series, value in self.counters().items() if series in shown}

    def switch(self, state, begins):
        with self.lock:
            if state in NO_STATES:
                (self.events.add if begins else self.events.discard)(state)
            else:
                self.state = state if begins else "usual"
                self.enter(self.state)

    def go_on(self):
        """To the newest file. After the last the state goes on with the second half of its files again."""
        if time.time() - self.begin > self.files[-1][0] + 1:
            self.enter(self.state, len(self.files) // 2)
        while self.place + 1 < len(self.files) and self.files[self.place + 1][0] <= time.time() - self.begin:
            self.place += 1

    def own(self, match):
        """An address as this node has it: of a server, its own, or that of a device."""
        network, host, device = match.groups()
        if device:
            return f"0000:c{device}:{self.number:02x}.0"
        return f"10.0.{network}.{self.number % 4 + 1 if host == '1' else self.number + 100}"

    def node_exporter(self):
        """None if it does not answer."""
        if "down" in self.events:
            return None
        text = f'node_uname_info{{nodename="node{self.number}"}} 1\n'
        if "stopped" in self.events:
            return text
        if "stale" not in self.events:
            self.go_on()
        written, samples = self.files[self.place]
        text += f'node_textfile_mtime_seconds{{file="/textfile/xidscope.prom"}} {written + self.begin}\n'
        for series, value in samples:
            if COUNTER.match(series):
                value = repr(float(value) + self.added.get(series, 0))
            elif TIMESTAMP.match(series):
                value = repr(float(value) + self.begin)
            text += f"{series} {value}\n"
        return OWN.sub(self.own, text)

    def dcgm_exporter(self):
        self.replays += "replays" in self.events
        return "".join(f'{name}{{gpu="0",UUID="GPU-{self.number}"}} {self.replays}\n'
                       for name in ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"))


class Handler(programs.Handler):
    """The exporters, by their paths, and the receivers of notifications."""
    def do_GET(self):  # pylint: disable=invalid-name # http.server's
        _, exporter, number = self.path.split("/")
        if exporter == "sample":
            text = self.server.sample()
        else:
            node = self.server.nodes[int(number)]
            with node.lock:
                text = getattr(node, exporter)()
        if text is None:
            self.send_error(503)
        else:
            self.answer(text.encode())

    def do_POST(self):  # pylint: disable=invalid-name # http.server's
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.notifications.append((time.time(), self.path[1:], body["alerts"]))
        self.answer(b"")


def query(port, text, **parameters):
    what = "query_range" if parameters else "query"
    return json.loads(programs.fetch(f"http://127.0.0.1:{port}/api/v1/{what}", timeout=30, query=text,
                                     **parameters))["data"]["result"]


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


def faster(text):
    """All durations divided by SPEED, and the seconds with which rules compare by AGES. A GPU's failure is over after
    FAILURE seconds, and looked at each second. What counts hours of 30 days counts minutes: no hour is over here."""
    def divide(match):
        seconds = sum(int(n) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
                      for n, unit in re.findall(r"(\d+)([smhd])", match[0]))
        return f"{1000 * seconds // SPEED}ms"

    text = text.replace("[30d:1h]", "[1d:1m]").replace("< bool 21600", f"< bool {FAILURE}")
    text = text.replace("interval: 4m", f"interval: {SPEED}s")
    text = re.sub(r"(\[|offset |for: |interval: |group_wait: )[\dsmhd:]+", lambda match:
                  re.sub(r"(\d+[smhd])+", divide, match[0]), text)
    return re.sub(r"(?<=[<>-] )(60|120|3600|86400)\b|(?<=seconds > )5\b",
                  lambda match: str(int(match[0]) / AGES), text)


def configure(folder, targets, manager):
    for name in ("nodes", "peers", "checkpoints", "attempts", "reliability", "alerts"):
        (folder / f"{name}.yaml").write_text(faster((RULES / f"{name}.yaml").read_text()))
    (folder / "alertmanager.yml").write_text(faster((RULES / "alertmanager.yml").read_text()).replace(
        "127.0.0.1:9095", f"127.0.0.1:{targets}"))
    for exporter, port in (("node_exporter", 9100), ("dcgm_exporter", 9400)):
        (folder / f"{exporter}.json").write_text(json.dumps([
            {"targets": [f"127.0.0.1:{targets}"],
             "labels": {"__metrics_path__": f"/{exporter}/{n}", "instance": f"node{n}:{port}"}} for n in range(NODES)]))
    (folder / "sample.json").write_text(json.dumps([
        {"targets": [f"127.0.0.1:{targets}"], "labels": {"__metrics_path__": "/sample/", "instance": "sample:9100"}}]))
    (folder / "prometheus.yml").write_text(f"""global: {{scrape_interval: 1s, evaluation_interval: {15000 // SPEED}ms}}
rule_files: ["{folder}/*.yaml"]
alerting:
  alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{manager}"]}}]}}]
  alert_relabel_configs: [{{source_labels: [node, storage], regex: "sample.*;.*|.*;scratch .*", action: drop}}]
scrape_configs:
  - {{job_name: node, file_sd_configs: [{{files: [node_exporter.json]}}]}}
  - {{job_name: dcgm, file_sd_configs: [{{files: [dcgm_exporter.json]}}]}}
  - {{job_name: sample, file_sd_configs: [{{files: [sample.json]}}]}}
""")


def play(incidents, server, port):
    """On a busy machine an incident lasts until what is expected of it has come, if it comes at all."""
    def has_come(incident):
        firing = [alert["metric"] for alert in query(port, 'ALERTS{alertstate="firing"}')]
        told = [alert["labels"] for _, _, alerts in server.notifications for alert in alerts]
        return all(any(is_of(e, labels) for labels in where)
                   for expected, where in ((incident.told, told), (incident.inhibited, firing)) for e in expected)

    moments = sorted((moment, begins, n) for n, incident in enumerate(incidents)
                     for moment, begins in ((incident.begin, True), (incident.end, False)))
    origin = server.start
    for moment, begins, n in moments:
        time.sleep(max(0, origin + moment - time.time()))
        late = time.time() + 30
        while not begins and not has_come(incidents[n]) and time.time() < late:
            time.sleep(0.5)
        origin = max(origin, time.time() - moment - 1)
        for node in incidents[n].nodes:
            server.nodes[node].switch(incidents[n].state, begins)


def is_of(expected, labels):
    """Whether an alert is the one expected: "WHERE ALERTNAME LABEL=VALUE..."."""
    _, name, *pairs = expected.split()
    return labels["alertname"] == name and all(labels.get(k) == v for k, v in (pair.split("=") for pair in pairs))


def silence(manager):
    """By the runbook's command, which must keep the alert from those who would be told otherwise (check_told)."""
    command = subprocess.run([TOP / "tests/docs/runbook.sh", "amtool"], stdout=subprocess.PIPE, text=True, check=True)
    manager = f"--alertmanager.url=http://127.0.0.1:{manager}"
    subprocess.run(["bash", "-c", command.stdout], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, NODE="node61", ALERTMANAGER=manager.split("=")[1]))
    subprocess.run(["amtool", "alert", "add", "LemonNode", "node=node61", "severity=warning", manager], check=True)
    wait(lambda: "node61" in subprocess.run(["amtool", "alert", "query", "-s", "-o", "extended", manager], check=True,
                                            stdout=subprocess.PIPE, text=True).stdout, 30, "no alert is silenced")
    print("the runbook's command has silenced an alert")


def text_of(labels):
    return " ".join([labels["alertname"], *(f"{k}={v}" for k, v in sorted(labels.items()) if k != "alertname")])


def check_told(notifications, expected):
    """What is wrong with the notifications, and the alerts that they told."""
    wrong, told = [], {}
    for _, receiver, alerts in notifications:
        news = False
        for alert in alerts:
            states = told.setdefault((receiver, text_of(alert["labels"])), (alert["labels"], []))[1]
            if states[-1:] != [alert["status"]]:
                states.append(alert["status"])
                news = True
        if not news:
            wrong.append(f"{receiver} is told again what it knows: {text_of(alerts[0]['labels'])}, ...")
    found = collections.Counter()
    for (receiver, text), (labels, states) in told.items():
        matches = [e for e in expected if e.split()[0] == receiver and is_of(e, labels)]
        found.update(matches)
        if not matches:
            wrong.append(f"{receiver} is told what is not expected: {text}, {', '.join(states)}")
        elif states != ["firing", "resolved"]:
            wrong.append(f"{receiver} is told {', '.join(states)} instead of firing, resolved: {text}")
    wrong += [f"told of {found[e]} alerts instead of one: {e}" for e in expected if found[e] != 1]
    return wrong, {text for _, text in told}


def check_together(notifications, expected):
    """What is wrong with the first message about nodes that are down, which must be about all of them."""
    down = sum(e.split()[1] == "NodeDown" for e in expected)
    first = next((alerts for _, _, alerts in notifications if alerts[0]["labels"]["alertname"] == "NodeDown"), [])
    return [] if len(first) == down else [f"the first message has {len(first)} of {down} nodes that are down"]


def check_inhibited(port, seconds, told, expected):
    """What is wrong with the alerts that fired and were not told, and how many each expected one was."""
    now = time.time()
    fired = [({k: v for k, v in alert["metric"].items() if k not in ("__name__", "alertstate")},
              {int(t) for t, _ in alert["values"]})
             for alert in query(port, 'ALERTS{alertstate="firing"}', start=now - seconds, end=now, step=1)]
    fired = [f for f in fired if not re.match("sample|scratch ", f[0].get("node", "") + f[0].get("storage", ""))]
    wrong, found = [], collections.Counter()
    for labels, times in fired:
        if text_of(labels) in told:
            continue
        matches = [e for e in expected if is_of(e, labels)]
        found.update(matches)
        if not matches:
            wrong.append(f"fires and nobody is told: {text_of(labels)}, {len(times)} s")
        for cause in {e.split()[0] for e in matches}:
            over = set().union(*(t for other, t in fired if other["alertname"] == cause and any(
                label in labels and other.get(label) == labels[label] for label in ("node", "storage"))))
            if len(times - over) > 2:
                wrong.append(f"fires for {len(times - over)} s without its cause {cause}: {text_of(labels)}")
    wrong += [f"does not fire, or is not inhibited: {e}" for e in expected if not found[e]]
    return wrong, found


def inhibitions():
    """Of alertmanager.yml: (source, target), once for each that a pattern names."""
    pattern = r"source_matchers: \[alertname = (\w+)\]\s+target_matchers: \[alertname =~? \"?([\w.*|]+)"
    return [(source, target) for source, targets in re.findall(pattern, (RULES / "alertmanager.yml").read_text())
            for target in targets.split("|")]


def check_rules(found):
    """Each inhibition must have been seen at work, though not on each alert that it names."""
    wrong, used = [], collections.defaultdict(list)
    for source, target in inhibitions():
        used[source] += [f"{target} {count}" for e, count in found.items()
                         if e.split()[0] == source and re.fullmatch(target, e.split()[1])]
    for source, targets in used.items():
        print(f"inhibited by {source}: {', '.join(targets)}")
        if not targets:
            wrong.append(f"no alert has fired that {source} inhibits")
    return wrong


def set_variables(text):
    """As they are set for the sample's node."""
    values = {"$__rate_interval": "1m", "$instance": "sample:9100", "$server": ".*", "$workload": ".*"}
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def check_dashboards(port):
    """Each query finds something."""
    queries = 0
    for path in sorted((TOP / "deploy/grafana").glob("*.json")):
        page = json.loads(path.read_text())
        variables = [(v["name"], re.sub(r"label_values\((.*), (\w+)\)", r"group by (\2) (\1)", v["query"]["query"]))
                     for v in page["templating"]["list"] if v["type"] == "query"]
        asked = variables + [(p["title"], t["expr"]) for p in page["panels"] for t in p.get("targets", [])]
        asked += [(a["name"], a["target"]["expr"]) for a in page.get("annotations", {"list": []})["list"]]
        for title, text in asked:
            text = set_variables(text)
            # What has just happened, and what is known of attempts, may be nothing: then only the query is tried.
            text = f"({text}) or vector(0)" if re.search(r"attempts:(success|interval)|offset 2m", text) else text
            queries += 1
            # On a busy machine a scrape may be late, and what it had is not there for a moment.
            wait(lambda text=text: query(port, text), 10, f"{path.name}: {title}: no result of {text}")
    print(f"{queries} queries of the dashboards return something")


def check(port, server, incidents, seconds):
    expected = [e for incident in incidents for e in incident.told]
    alive = [n for n in server.notifications if n[1] == "watchdog"]
    server.notifications = [n for n in server.notifications if n not in alive]
    wrong, texts = check_told(server.notifications, expected)
    texts |= {text_of(alert["labels"]) for _, _, alerts in alive for alert in alerts}
    if len(alive) < 2:
        wrong.append(f"DeadMansSwitch is told {len(alive)} times")
    more, found = check_inhibited(port, seconds, texts, [e for incident in incidents for e in incident.inhibited])
    wrong += more + check_together(server.notifications, expected)
    if incidents is RECORDED:
        wrong += check_rules(found)
    for at, receiver, alerts in server.notifications:
        told = "; ".join(f"{alert['status']} {text_of(alert['labels'])}" for alert in alerts)
        print(f"{at - server.start:4.0f} s {receiver}: {told}")
    if wrong:
        missed = sum(map(float, re.findall(r"^prometheus_rule_group_iterations_missed_total.* (\S+)$", programs.fetch(
            f"http://127.0.0.1:{port}/metrics"), re.M)))
        sys.exit("\n".join(f"live.py: {line}" for line in wrong + [
            f"Prometheus left out {missed:.0f} evaluations of rules" + ": this machine is too busy" * (missed > 0)]))
    print(f"{NODES} nodes, {len(incidents)} incidents in {seconds:.0f} s: {len(server.notifications)} notifications of "
          f"{len(expected)} alerts, all of them expected and none missing; {sum(found.values())} alerts inhibited")


def sample_text(path):
    """A file whose counters grow by a percent a second, but for those of faults and of episodes, which are marked."""
    start, text = time.time(), (path.read_text() if path else "") + SAMPLE_JOB
    growing = re.compile(r"^((?!xidscope_gpu_xid_|xidscope_checkpoint_episode_seconds_count)"
                         r"\w+_(?:total|bucket|sum|count)(?:\{.*\})?) (\S+)$", re.M)
    return lambda: growing.sub(lambda m: f"{m[1]} {float(m[2]) * (1 + (time.time() - start) / 100):.9f}", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=pathlib.Path)
    parser.add_argument("prometheus")
    parser.add_argument("manager")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("states", type=pathlib.Path)
    args = parser.parse_args()
    incidents = SHORT if args.sample else RECORDED
    server = programs.Targets(Handler)
    states = read_states(args.states)
    server.nodes, server.sample = [Node(n, states) for n in range(NODES)], sample_text(args.sample)
    server.notifications, server.start = [], time.time()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ports = programs.free_port(), programs.free_port()
    configure(args.folder, server.server_port, ports[1])
    commands = (["unshare", "--map-root-user", "--mount", args.manager, f"--config.file={args.folder}/alertmanager.yml",
                 f"--storage.path={args.folder}/manager", "--cluster.listen-address=",
                 f"--web.listen-address=127.0.0.1:{ports[1]}"],
                [args.prometheus, f"--config.file={args.folder}/prometheus.yml",
                 f"--storage.tsdb.path={args.folder}/data", f"--query.lookback-delta={300 // SPEED}s",
                 f"--web.listen-address=127.0.0.1:{ports[0]}"])
    with programs.server(commands[0], f"http://127.0.0.1:{ports[1]}/-/ready", args.folder / "log", 60), \
            programs.server(commands[1], f"http://127.0.0.1:{ports[0]}/-/ready", args.folder / "log", 60):
        wait(lambda: query(ports[0], f"count(node:signal) > {NODES}"), 60, "no signals of all nodes")
        # The signals look back for 10 minutes, which are to be usual ones.
        time.sleep(0 if args.sample else 600 / SPEED)
        silence(ports[1])
        server.start = time.time()
        play(incidents, server, ports[0])
        check(ports[0], server, incidents, time.time() - server.start)
        if args.sample:
            check_dashboards(ports[0])


if __name__ == "__main__":
    main()
