# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads what the agent, the kernel and fio have written."""
import datetime
import json
import re
from decimal import Decimal
from pathlib import Path

from judge import need


PREFIX = "xidscope_"
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """One metrics file, values as exact decimals."""

    def __init__(self, path):
        self.samples = {}
        for line in Path(path).read_text(encoding="utf-8").split("\n"):
            if not line or line.startswith("#"):
                continue
            match = SAMPLE.match(line)
            need(match, path, "has a strange line:", line)
            labels = tuple(LABEL.findall(match[2] or ""))
            key = (match[1], labels)
            need(key not in self.samples, path, "has twice:", line)
            self.samples[key] = Decimal(match[3])

    def get(self, name, **labels):
        """Sum of all samples of a name whose labels include these."""
        return sum(self.each(name, **labels).values(), Decimal(0))

    def each(self, name, **labels):
        wanted = set(labels.items())
        return {key[1]: value for key, value in self.samples.items()
                if key[0] == PREFIX + name and wanted <= set(key[1])}

    def values(self, name, label):
        return {dict(labels)[label] for labels in self.each(name)}


def difference(before, after):
    """What came between two files; gauges mean nothing in it."""
    result = object.__new__(Metrics)
    result.samples = {key: value - before.samples.get(key, 0)
                      for key, value in after.samples.items()}
    return result


def increases(before, after):
    """The same of counters, as increase() counts: one that has begun again, or is new, began at 0."""
    result = object.__new__(Metrics)
    result.samples = {key: value - (old if value >= (old := before.samples.get(key, Decimal(0))) else 0)
                      for key, value in after.samples.items()}
    return result


def between(folder, before, after):
    """What came between two points."""
    return difference(*(Metrics(folder / f"{point}.prom") for point in (before, after)))


def complaints(folder, *levels):
    """The messages of these levels in the agent's log; without any, warnings and errors."""
    levels = levels or ("warning", "error")
    return [event["message"] for event in events(folder / "agent.log") if event["level"] in levels]


PER_OP = re.compile(r"^\s+([A-Z0-9_]+): ((?:\d+ ){7,}\d+)\s*$")
PER_OP_FIELDS = ("ops", "ntrans", "timeouts", "sent", "received", "queue_ms",
                 "rtt_ms", "execute_ms", "errors")


def mountstats(path, single=True):
    """The per-op statistics of the only NFS mount in the file, or the sums of all mounts."""
    ops = {}
    for line in Path(path).read_text(errors="surrogateescape").split("\n"):
        match = PER_OP.match(line)
        if match:
            need(not single or match[1] not in ops, path, "shows more than one mount")
            into = ops.setdefault(match[1], dict.fromkeys(PER_OP_FIELDS, 0))
            for field, value in zip(PER_OP_FIELDS, map(int, match[2].split())):
                into[field] += value
    need(ops or not single, path, "shows no mount")
    return ops


def mountstats_all(path):
    return mountstats(path, single=False)


def events(path, skip=0):
    return [json.loads(line) for line in Path(path).read_text().split("\n")[skip:] if line]


def read_json(path):
    return json.loads(path.read_text())


def number(path):
    """The only number in a file."""
    return float(path.read_text())


def iso(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def runtime(path):
    """Seconds that fio's load took, by its own report."""
    job = read_json(path)["jobs"][0]
    return max(job["read"]["runtime"], job["write"]["runtime"]) / 1000


def session_verdict(file, server=""):
    """The verdict on the server of this name that had most calls in a session's JSON."""
    servers = [s for s in read_json(file)["servers"] if s["name"].startswith(server)]
    need(servers, file, "has no server")
    return max(servers, key=lambda s: s["verdict"]["numbers"]["calls"])["verdict"]


def fio_rate(file):
    """Calls per second of fio's only job."""
    job = read_json(file)["jobs"][0]
    return job["read"]["iops"] + job["write"]["iops"]
