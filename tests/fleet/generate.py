# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes up the metrics of a fleet: xidscope's, node_exporter's and dcgm-exporter's of each node, a sample a minute.

Those of xidscope are put together from recordings of guests, the others are made up. What is usual is described by a
file of noise parameters, what goes wrong by a file of incidents; tests/fleet/noise.conf and incidents.tsv are the
examples, and explain each parameter and column. The same files and seed give the same fleet.
"""
import dataclasses
import pathlib
import re

import numpy as np

STEP = 60
DAY = 1440  # steps
NOISE = pathlib.Path(__file__).parent / "noise.conf"
INCIDENTS = NOISE.with_name("incidents.tsv")

# What leads to a failure of each kind, and its Xid; gpu:SIGNAL+SIGNAL names the signals itself.
FAILURES = {
    "gpu_thermal": (("gpu_temperature", "gpu_clock"), 79),
    "gpu_pcie": (("pcie_replays", "pcie_errors"), 79),
    "gpu_memory": (("gpu_memory_errors", "gpu_remapped_rows"), 48),
    "gpu_fabric": (("nvlink_errors", "fabric_links"), 74),
    "gpu_power": (("gpu_power", "gpu_clock"), 79),
    "gpu_rows": (("gpu_remapped_rows",), 48),
    "gpu_lost": (("gpus_lost",), 79),
    "gpu_single": (("pcie_replays",), 79),
    "gpu_sudden": ((), 119),
    "gpu_detached": (("interrupts", "runnable", "pages_out", "scrape_time", "series_gaps"), 79),
}
# Signals of which one alone tells.
TELLING = {"gpu_remapped_rows", "gpus_lost"}
LEMON_XIDS = (79, 48, 119, 74, 95)
NODE_ALERTS = {"NodeDeviates", "NodeUnfit", "NodeWarns", "NodeDown", "GpuFatalXid", "GpuRepeats", "XidscopeGone"}
# The alerts that find an incident; what else may come of it.
ALERTS = {
    "gpu": (NODE_ALERTS - {"XidscopeGone"}, NODE_ALERTS),
    "node_down": ({"NodeDown"}, NODE_ALERTS),
    "slow_node": ({"NfsLimitSaturated"}, {"NfsLimitSaturated", "NodeDeviates"}),
    "storage_slow": ({"NfsBottleneck"}, {"NfsBottleneck", "NfsLimitSaturated"}),
    "storage_dead": ({"NfsServerDead"}, {"NfsServerDead", "NfsCallHangs"}),
    "drift": ({"NfsMountDiffers"}, {"NfsMountDiffers"}),
}
# How NFS is mounted, and what drifts, by magnitude.
OPTIONS = {"version": "4.2", "rsize": "1048576", "wsize": "1048576", "nconnect": "16", "max_connect": "1",
           "recovery": "hard", "timeo": "600", "retrans": "2", "sec": "sys", "proto": "tcp", "ac": "3,60,30,60",
           "lookupcache": "all", "local_lock": "none"}
READAHEAD, BUILD = 1048576, "0a1b"
DRIFTS = ({"nconnect": "1"}, {"wsize": "65536"}, {"recovery": "soft"}, {"readahead": 131072}, {"build": "ffff"})
# How many times slower the storage system is in the recording.
SLOW = 6
KINDS = [*FAILURES, *list(ALERTS)[1:], "lemon"]
# The share of nodes beyond which it is the storage system, by docs/RUNBOOK.md.
SHARES = {"storage_slow": 0.3, "storage_dead": 0.5}
# An unit of each signal, per minute for what is counted: the steps of docs/FLEET.md.
UNITS = {
    "gpu_temperature": 2, "gpu_clock": 50, "gpu_power": 25, "board_temperature": 2, "nfs_latency": 0.223,
    "memory_pressure": 0.05, "cpu_pressure": 0.1, "pcie_replays": 1, "nvlink_errors": 1, "fabric_errors": 1,
    "nfs_retransmits": 1, "pcie_errors": 1 / 50, "kernel_errors": 1 / 50, "gpu_driver_errors": 1 / 50,
    "fabric_links": 1 / 50, "gpu_memory_errors": 1 / 60, "memory_errors": 1 / 60, "gpu_remapped_rows": 1 / 300,
    "gpus_lost": 1 / 10, "interrupts": 0.173, "runnable": 0.4, "pages_out": 0.347, "scrape_time": 0.173,
    "series_gaps": 0.1,
}


@dataclasses.dataclass
class Incident:
    """What goes wrong; times in steps."""
    kind: str
    nodes: list
    time: int
    magnitude: float
    lead: int
    duration: int
    signals: tuple = ()
    xid: int = 0
    lemon: bool = False

    @property
    def family(self):
        return "gpu" if self.kind.startswith("gpu") else self.kind

    @property
    def of_node(self):
        """Whether a node fails by it."""
        return self.family in ("gpu", "node_down")

    @property
    def of_storage(self):
        return self.kind.startswith("storage")

    @property
    def told_before(self):
        """Whether two signals, or one that tells alone, are there to see before the event."""
        return (len(self.signals) > 1 or not TELLING.isdisjoint(self.signals)) and self.magnitude > 0 and self.lead > 0


def words(path):
    """The lines of a file without comments, each as its words."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [fields for line in lines if (fields := line.partition("#")[0].split())]


def read_noise(path):
    """Parameters by name: those of the file, and for the rest those of noise.conf."""
    noise = {name: float(value) for name, value in words(NOISE)}
    given = {name: float(value) for name, value in words(path)}
    if given.keys() - noise.keys():
        raise SystemExit(f"{path}: {NOISE.name} has no {' '.join(given.keys() - noise.keys())}")
    return noise | given


def read_nodes(text, count):
    nodes = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        nodes |= set(range(int(first), min(int(last or first) + 1, count)))
    return sorted(nodes)


def read_incident(fields, count):
    """A line of the file, with its time in days."""
    time, nodes, kind, magnitude, lead, duration = fields
    signals, xid = FAILURES.get(kind, ((), 79))
    if kind.startswith("gpu:"):
        signals = tuple(dict.fromkeys(kind[4:].split("+")))
    if set(signals) - set(UNITS) or not kind.startswith("gpu:") and kind not in KINDS:
        raise SystemExit(f"{kind}: write one of {' '.join(KINDS)}, or gpu:SIGNAL+SIGNAL with {' '.join(UNITS)}")
    return Incident(kind, read_nodes(nodes, count), float(time), float(magnitude), int(float(lead) * 60),
                    max(int(float(duration) * 60), 1), signals, xid)


def read_incidents(path, days, count, rng):
    """The incidents of the days and nodes that there are; a lemon becomes its failures."""
    incidents, beyond, end = [], 0, days * DAY
    for fields in words(path):
        incident = read_incident(fields, count)
        incident.time = int(incident.time * DAY)
        if incident.time >= end or not incident.nodes:
            beyond += 1
        elif len(incident.nodes) <= SHARES.get(incident.kind, 0) * count:
            raise SystemExit(f"{path}: {incident.kind} on {len(incident.nodes)} of {count} nodes, which all use one "
                             f"storage system: write more than {SHARES[incident.kind]:.0%} of them, or slow_node")
        elif incident.kind != "lemon":
            incidents.append(incident)
        else:
            times = np.linspace(incident.time, end - 300, int(incident.magnitude)) + \
                rng.integers(-120, 120, int(incident.magnitude))
            incidents += [dataclasses.replace(incident, kind="gpu_sudden", lemon=True, time=int(at), magnitude=0,
                                              xid=LEMON_XIDS[number % len(LEMON_XIDS)])
                          for number, at in enumerate(np.clip(times, 30, end - 120))]
    if beyond:
        print(f"{path}: {beyond} lines are left out: they are beyond DAYS or NODES")
    return sorted(incidents, key=lambda i: i.time)


def counter(increments, resets):
    """The counter with these increments, which begins again at each of the resets."""
    total = np.cumsum(increments)
    base = np.zeros(len(total))
    for at in sorted(resets):
        if 0 < at < len(total):
            base[at:] = total[at - 1]
    return total - base


def smooth(values, minutes):
    """An exponential mean of about so many minutes."""
    kernel = np.exp(-np.arange(4 * minutes) / minutes)
    padded = np.concatenate([np.full(4 * minutes, values[0]), values])
    return np.convolve(padded, kernel / kernel.sum())[4 * minutes:4 * minutes + len(values)]


class Recording:
    """A table that recording/reduce.py has written: of each state its intervals, each of which stands for a minute."""
    def __init__(self, name):
        (_, states), *rows = (line.split("\t") for line in NOISE.with_name("recording").joinpath(name).read_text(
            encoding="ascii").splitlines() if not line.startswith("#"))
        self.at = {}
        for place, state in enumerate(states.split()):
            self.at[state] = slice(self.at.get(state, slice(place, 0)).start, place + 1)
        self.series = {name: np.array([np.nan if value == "-" else float(value) for value in values.split()])
                       for name, values in rows}

    def length(self, state):
        return self.at[state].stop - self.at[state].start


NFS, FAULTS = Recording("nfs.tsv"), Recording("faults.tsv")
SAVES = [state for state in NFS.at if state.startswith("save")]
# Those that begin with their first interval; in the others a node may be at any of them.
BURSTS = ("load", "dead", "back", *SAVES)


class Jobs:
    """Which job each node runs at each minute, and what the jobs are like. The last entry is: no job."""
    FIELDS = ("start", "load", "power", "period", "save", "calls", "times", "memory", "cpu")

    def __init__(self, nodes, steps, noise, rng):
        self.of = np.full((nodes, steps), -1, dtype=np.int32)
        rows = []
        free, ends, now = list(range(nodes)), {}, 0
        while now < steps:
            for end in [e for e in ends if e <= now]:
                free += ends.pop(end)
            while len(free) >= 4:
                size = min(len(free), int(rng.integers(noise["job_nodes_min"], noise["job_nodes_max"] + 1)))
                if len(free) - size < 4:
                    size = len(free)
                chosen = sorted(rng.choice(free, size, replace=False))
                free = [n for n in free if n not in chosen]
                start = now + int(rng.integers(2, 20))
                end = start + 30 + int(rng.exponential(noise["job_hours"] * 60))
                self.of[chosen, start:end] = len(rows)
                while end in ends:
                    end += 1
                ends[end] = list(chosen)
                rows.append((start, rng.uniform(0.6, 0.98), rng.uniform(350, 600),
                             rng.integers(30, 180), rng.integers(len(SAVES)), rng.uniform(0.3, 3), rng.uniform(0.5, 2),
                             rng.uniform(0, 0.03), rng.uniform(0.02, 0.3)))
            now = min(ends) if ends else steps
        rows.append((0, 0.01, 400, 10**6, 0, 1, 1, 0, 0.01))
        self.table = dict(zip(self.FIELDS, np.array(rows, dtype=float).T))

    def row(self, node):
        """Each of the fields, by minute."""
        return {name: values[self.of[node]] for name, values in self.table.items()}


class Fleet:
    def __init__(self, *, nodes, days, seed, incidents, noise):
        self.nodes, self.steps, self.seed = nodes, int(days * DAY), seed
        rng = np.random.default_rng(seed)
        self.noise = read_noise(noise)
        self.incidents = read_incidents(incidents, days, nodes, rng)
        self.jobs = Jobs(nodes, self.steps, self.noise, rng)

    def series(self, node):
        """Of one node: the scrape's job, the series' name and labels, values, and whether each sample is there."""
        return Node(self, node).series()


class Node:
    """The metrics of one node; arrays have an element for each minute."""
    def __init__(self, fleet, node):
        self.node, self.steps, self.noise = node, fleet.steps, fleet.noise
        self.rng = np.random.default_rng([fleet.seed, node])
        self.time = np.arange(self.steps)
        self.incidents = [i for i in fleet.incidents if node in i.nodes]
        self.jobs, self.job_ids = fleet.jobs.row(node), fleet.jobs.of[node]
        self.gpus = int(self.noise["gpus"])
        self.presence()
        self.extras()

    def span(self, start, length):
        return slice(max(int(start), 0), min(int(start + length), self.steps))

    def often(self, per_thousand_days):
        """Minutes at which something happens that is so frequent in a thousand node-days."""
        return np.flatnonzero(self.rng.random(self.steps) < per_thousand_days / 1000 / DAY)

    def presence(self):
        """When the node is a target, answers, and has an agent; when its counters begin again; its Xids."""
        noise, rng = self.noise, self.rng
        self.target, self.up = np.ones(self.steps, bool), np.ones(self.steps, bool)
        self.agent = np.ones(self.steps, bool)
        self.boots, self.agent_starts, self.faults = [], [], []
        for at in self.often(noise["reboots"]):
            down = rng.integers(3, 9)
            self.up[self.span(at, down)] = False
            self.boots.append(at + down)
        for at in self.often(noise["absences"]):
            away = rng.integers(60, 1440)
            self.target[self.span(at, away)] = False
            self.boots.append(at + away)
        for at in self.often(noise["agent_restarts"]):
            self.agent[self.span(at, 1)] = False
            self.agent_starts.append(at + 1)
        for at in self.often(noise["scrape_gaps"]):
            self.up[self.span(at, rng.integers(2, 8))] = False
        self.up &= rng.random(self.steps) >= noise["scrapes_missing"]
        for incident in self.incidents:
            if incident.family == "gpu":
                # Drained 20 minutes after the Xid, and repaired; it comes back as another boot.
                self.up[self.span(incident.time, 20)] = True
                self.target[self.span(incident.time - 30, 50)] = True
                self.target[self.span(incident.time + 20, incident.duration)] = False
                self.boots.append(incident.time + 20 + incident.duration)
                self.faults.append((incident.time, incident.xid))
            elif incident.kind in ("node_down", "slow_node", "drift"):
                # Not while it is away by chance.
                self.target[self.span(incident.time - 60, 60 + incident.duration)] = True
                if incident.kind == "node_down":
                    self.up[self.span(incident.time, incident.duration)] = False
                    self.boots.append(incident.time + incident.duration)
        self.agent_starts += self.boots

    def extras(self):
        """How much each signal is beyond what is usual: before incidents, and by chance in a single one."""
        self.extra = {signal: np.zeros(self.steps) for signal in UNITS}
        for incident in self.incidents:
            ramp = np.clip((self.time - (incident.time - incident.lead)) * 3 / max(incident.lead, 1), 0, 1)
            ramp[self.time >= incident.time + 20] = 0
            for signal in incident.signals:
                self.extra[signal] += UNITS[signal] * incident.magnitude * ramp
        for at in self.often(self.noise["glitches"]):
            # A GPU that is away is no glitch.
            signal = self.rng.choice([signal for signal in UNITS if signal != "gpus_lost"])
            self.extra[signal][self.span(at, self.rng.exponential(self.noise["glitch_minutes"]) + 3)] += \
                UNITS[signal] * self.rng.exponential(self.noise["glitch_steps"])

    def events(self, usual, signal=None):
        """How many in each minute: so many per day as usual, and what the signal has beyond."""
        rate = np.full(self.steps, usual / DAY)
        if signal:
            rate = rate + np.maximum(self.extra[signal], 0)
        return self.rng.poisson(rate)

    def wander(self, deviation, minutes=10):
        """Noise with a memory of so many minutes."""
        return smooth(self.rng.normal(0, deviation, self.steps), minutes) * np.sqrt(2 * minutes)

    def loads(self):
        """The share of time in which the GPUs compute; the state of its storage, as in the recording."""
        jobs, rng = self.jobs, self.rng
        since = self.time - jobs["start"] - rng.integers(-1, 2)
        lengths = np.array([NFS.length(state) for state in SAVES])
        saving = (since > jobs["period"] / 2) & (since % jobs["period"] < lengths[jobs["save"].astype(int)])
        loading = since < NFS.length("load")
        load = jobs["load"] * np.where(saving, 0.35, 1) * np.where(loading, 0.3, 1)
        state = np.select([loading & (since >= 0), saving, self.job_ids >= 0],
                          ["load", np.array(SAVES)[jobs["save"].astype(int)], "train"], "idle")
        return np.clip(load + self.wander(0.01, 3), 0, 1), state

    def series(self):
        load, state = self.loads()
        yield from self.of_node(load)
        if self.noise["dcgm"]:
            yield from self.of_gpus(load)
        if self.noise["xidscope"]:
            yield from self.of_agent()
            if self.noise["nfs"]:
                yield from self.of_nfs(state)

    def of_node(self, load):
        here = self.target & self.up
        yield "node", "up", self.up.astype(float), self.target
        yield from self.of_system(load, here)
        yield "node", f'node_uname_info{{nodename="node{self.node:03}"}}', np.ones(self.steps), here
        for job in np.unique(self.job_ids):
            if job >= 0:
                yield "node", f'fleet_node_job_info{{workload="{4000 + job}"}}', np.ones(self.steps), \
                    here & (self.job_ids == job)
        daily = self.noise["diurnal"] * np.sin(2 * np.pi * self.time / DAY)
        board = 30 + 12 * smooth(load, 8) + daily + self.rng.normal(0, 1.5) + self.wander(0.3) + \
            self.extra["board_temperature"]
        yield "node", 'node_hwmon_temp_celsius{chip="board",sensor="temp1"}', np.round(board), here
        for name, usual, signal in (
                ('node_infiniband_symbol_error_total{device="mlx5_0",port="1"}', 1, "fabric_errors"),
                ('node_infiniband_link_downed_total{device="mlx5_0",port="1"}', 0.005, "fabric_links"),
                ('node_network_receive_errs_total{device="eth0"}', 0.2, None),
                ('node_edac_correctable_errors_total{controller="0"}', self.noise["memory_errors"], "memory_errors")):
            yield "node", name, counter(self.events(usual, signal), self.boots), here
        for what in ("memory", "cpu"):
            share = np.clip(self.jobs[what] * (1 + self.wander(0.15)) + self.extra[f"{what}_pressure"], 0, 1)
            yield "node", f"node_pressure_{what}_waiting_seconds_total", counter(share * STEP, self.boots), here

    def of_system(self, load, here):
        """What changes on the node of a GPU that is about to fall off the bus."""
        noise, rng = self.noise, np.random.default_rng([self.node, 1])
        interrupts = 40000 * (0.2 + load) * np.exp(self.wander(noise["interrupts_noise"]) - self.extra["interrupts"])
        yield "node", "node_intr_total", counter(np.round(STEP * interrupts), self.boots), here
        running = 1 + noise["runnable"] * load * np.exp(-self.extra["runnable"])
        yield "node", "node_procs_running", rng.poisson(running), here
        pages = 3000 * np.exp(self.wander(noise["pages_out_noise"]) + self.extra["pages_out"])
        yield "node", "node_vmstat_pgpgout", counter(np.round(STEP * pages), self.boots), here
        took = 0.08 * np.exp(rng.normal(0, noise["scrape_noise"], self.steps) + self.extra["scrape_time"])
        yield "node", "scrape_duration_seconds", np.round(took, 4), self.target

    def of_gpus(self, load):
        here = self.target & self.up & (self.rng.random(self.steps) >= self.noise["scrapes_missing"])
        yield "dcgm", "up", self.up.astype(float), self.target
        daily = self.noise["diurnal"] * np.sin(2 * np.pi * self.time / DAY)
        place, noise = self.rng.normal(0, self.noise["temperature_places"]), self.noise["temperature_noise"]
        shared, zero = self.wander(noise), np.zeros(self.steps)
        drawn = np.random.default_rng([self.node, 2]).random(self.steps)
        for gpu in range(self.gpus):
            extra = self.extra if gpu == 0 else {}
            answers = here & (extra.get("gpus_lost", zero) <= 0) & (drawn >= extra.get("series_gaps", zero))
            busy = np.clip(load + self.rng.normal(0, 0.02, self.steps), 0, 1)
            heat = 32 + 35 * smooth(busy, 5) + daily + place + self.rng.normal(0, 1) + shared + \
                self.rng.normal(0, noise, self.steps) + extra.get("gpu_temperature", zero)
            clock = 1980 - 15 * self.rng.poisson(self.noise["clock_steps"], self.steps) - extra.get("gpu_clock", zero)
            power = 90 + self.jobs["power"] * busy + self.rng.normal(0, self.noise["power_noise"], self.steps) - \
                extra.get("gpu_power", zero)
            xid = zero.copy()
            for at, code in self.faults if gpu == 0 else ():
                xid[self.span(at, 20)] = code
            clock = np.maximum(np.where(busy > 0.1, clock, 345), 210)
            gauges = {"GPU_TEMP": np.round(heat), "SM_CLOCK": np.round(clock), "GPU_UTIL": np.round(100 * busy),
                      "POWER_USAGE": np.round(np.maximum(power, 60)), "XID_ERRORS": xid}
            counts = {"PCIE_REPLAY_COUNTER": ("pcie_replays", self.noise["pcie_replays"]),
                      "ECC_SBE_VOL_TOTAL": ("gpu_memory_errors", self.noise["gpu_memory_errors"])}
            if gpu == 0:
                counts |= {"CORRECTABLE_REMAPPED_ROWS": ("gpu_remapped_rows", 0.001),
                           "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": ("nvlink_errors", 0.1)}
            labels = f'{{gpu="{gpu}",UUID="GPU-{self.node}-{gpu}"}}'
            for name, values in gauges.items():
                yield "dcgm", f"DCGM_FI_DEV_{name}{labels}", values, answers
            for name, (signal, usual) in counts.items():
                increments = self.events(usual, signal if gpu == 0 else None)
                yield "dcgm", f"DCGM_FI_DEV_{name}{labels}", counter(increments, self.boots), answers

    def of_agent(self):
        self.here = here = self.target & self.up & self.agent
        clock = self.rng.normal(0, self.noise["clock_skew"]) + self.wander(0.5, 60)
        written = START + self.time * STEP + np.clip(clock, -55, 55) - self.rng.uniform(0, 15, self.steps)
        yield "node", 'node_textfile_mtime_seconds{file="/textfile/xidscope.prom"}', np.round(written, 1), here
        faults = {"xid13": self.events(self.noise["program_errors"])}
        for signal, usual in (("pcie_errors", 0.005), ("kernel_errors", 0.002), ("gpu_driver_errors", 0.002)):
            faults[signal] = self.events(usual, signal)
        for at, code in self.faults:
            faults.setdefault(f"xid{code}", np.zeros(self.steps))[at] += 1
        faults = {kind: times for kind, times in faults.items() if times.any()}
        for name, recorded in FAULTS.series.items():
            if "_total" in name:
                added = np.zeros(self.steps)
                for kind, times in faults.items():
                    for minute, count in enumerate(np.nan_to_num(recorded[FAULTS.at[kind]])):
                        if count:
                            added[minute:] += count * times[:self.steps - minute]
                # The counter appears with its first event.
                if added.any():
                    values = counter(added, self.boots)
                    yield "node", name, values, here & (values > 0)
            else:
                values = self.held(faults, recorded, "_timestamp_" in name)
                yield "node", name, values, here & ~np.isnan(values)

    def held(self, faults, recorded, timestamp):
        """A gauge: what the faults so far have left, since the last boot."""
        values = np.full(self.steps, np.nan if timestamp else recorded[0])
        boots = np.array([*sorted(boot for boot in self.boots if boot < self.steps), self.steps])
        for kind, times in faults.items():
            left = recorded[FAULTS.at[kind]]
            if not np.all((left == recorded[0]) | np.isnan(left)):
                for at in np.flatnonzero(times):
                    end = boots[np.searchsorted(boots, at, side="right")]
                    since = np.minimum(np.arange(end - at), len(left) - 1)
                    values[at:end] = np.fmax(values[at:end], left[since] + timestamp * (START + at * STEP))
        return values

    def play(self, state):
        """Of each minute the recorded interval, and by how many minutes the recording is too short for it."""
        begins = np.flatnonzero(np.concatenate([[True], state[1:] != state[:-1]]))
        played, beyond = np.zeros(self.steps, int), np.zeros(self.steps)
        for begin, end in zip(begins, [*begins[1:], self.steps]):
            name = state[begin]
            length, since = NFS.length(name), np.arange(end - begin)
            turn = np.minimum(since, length - 1) if name in BURSTS else (since + self.rng.integers(length)) % length
            played[begin:end], beyond[begin:end] = NFS.at[name].start + turn, since - turn
        return played, beyond * (state == "dead")

    def of_mount(self, server):
        """How NFS is mounted: as usual, but for the drifts."""
        spans = [(np.ones(self.steps, bool), {})]
        for incident in self.incidents:
            if incident.kind == "drift":
                there = np.zeros(self.steps, bool)
                there[self.span(incident.time, incident.duration)] = True
                spans = [(span & ~there, other) for span, other in spans]
                spans.append((there, DRIFTS[int(incident.magnitude)]))
        mount, series = f'{server},export="/scratch",mountpoint="/scratch"', {}
        for there, other in spans:
            labels = ",".join(f'{name}="{other.get(name, value)}"' for name, value in OPTIONS.items())
            build, ahead = other.get("build", BUILD), other.get("readahead", READAHEAD)
            for name, value in ((f"xidscope_nfs_mount_info{{{mount},{labels}}}", 1),
                                (f"xidscope_nfs_mount_readahead_bytes{{{mount}}}", ahead),
                                (f'xidscope_sunrpc_info{{module="sunrpc",build="{build}",origin="in-tree"}}', 1)):
                series[name] = series.get(name, 0) + value * there
        for name, values in series.items():
            yield "node", name, values, self.here & (values > 0)

    def of_nfs(self, state):
        jobs, here = self.jobs, self.here
        server, slow = f'server="10.0.{self.node // 250}.{self.node % 250 + 1}"', np.zeros(self.steps)
        yield from self.of_mount(server)
        dead = [self.span(i.time, i.duration) for i in self.incidents if i.kind == "storage_dead"]
        for incident in self.incidents:
            if incident.kind in ("storage_slow", "slow_node"):
                span = self.span(incident.time, incident.duration)
                slow[span] = np.maximum(slow[span], incident.magnitude)
        state = np.where(slow > 0, "slow", state)
        for span in dead:
            state[self.span(span.stop, NFS.length("back"))] = "back"
        for span in dead:
            state[span] = "dead"
        played, beyond = self.play(state)
        slower = np.where(state == "slow", slow / SLOW, 1)
        calls = jobs["calls"] / slower
        times = calls * slower * jobs["times"] * \
            np.exp(self.wander(self.noise["nfs_latency_noise"], 3) + self.extra["nfs_latency"])
        for name, recorded in NFS.series.items():
            values = recorded[played]
            there = here & ~np.isnan(values)
            if "_oldest_waiter_" in name:
                values = values + STEP * beyond * (values > STEP)
            elif re.search("_total|_sum|_count", name):
                there, added = here, np.nan_to_num(values)
                if "_retransmits_" in name:
                    added = added + self.events(self.noise["retransmits"], "nfs_retransmits")
                elif re.search("rpc_(op|phase)_seconds_(total|sum)", name):
                    added = added * times
                elif re.search("_calls_|_bytes_|_count", name):
                    added = np.round(added * calls)
                values = counter(added, self.agent_starts)
            yield "node", name.replace('server="127.0.0.1"', server), values, there


# Blocks of Prometheus begin at multiples of this, and so do the files.
CHUNK = 54 * 60  # steps
START = 1_750_000_000 // (CHUNK * STEP) * CHUNK * STEP
PORTS = {"node": 9100, "dcgm": 9400}


def write(fleet, nodes, folder, names):
    """Writes the metrics of these nodes as OpenMetrics, a file for each block; returns the files.

    If names are given, only those with one of these names.
    """
    paths = [folder / f"{nodes[0]:04}-{first // CHUNK:04}.om" for first in range(0, fleet.steps, CHUNK)]
    times = np.array([f" {START + t * STEP}\n" for t in range(fleet.steps)], dtype=object)
    files = [open(path, "w", encoding="ascii") for path in paths]
    for node in nodes:
        for job, name, values, there in fleet.series(node):
            if names and name.partition("{")[0] not in names:
                continue
            labels = f'job="{job}",instance="node{node:03}:{PORTS[job]}"'
            start = name[:-1] + "," + labels + "} " if name.endswith("}") else f"{name}{{{labels}}} "
            values = np.asarray(values, dtype=float)
            # Whole numbers with an exponent are written three times as fast as fractions.
            scale, unit = (1, "") if np.all(values == np.floor(values)) else (1e5, "e-5")
            for number, file in enumerate(files):
                first = number * CHUNK
                chosen = np.flatnonzero(there[first:first + CHUNK]) + first
                if len(chosen):
                    texts = np.rint(scale * values[chosen]).astype(np.int64).tolist()
                    file.write("".join([f"{start}{v}{unit}{t}" for v, t in zip(texts, times[chosen].tolist())]))
    for file in files:
        file.write("# EOF\n")
        file.close()
    return paths
