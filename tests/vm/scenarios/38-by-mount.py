# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.checks import KINDS, merged
from judge.reading import PER_OP, PER_OP_FIELDS, Metrics, difference
from judge.truths import has_all_families

TURNS = range(2)
NAMES = {"ops": "calls", "sent": "sent_bytes", "received": "received_bytes"}
# Calls of the client that the mounts of a server share: mountstats shows them with each of these mounts.
SHARED = ("NULL", "EXCHANGE_ID", "CREATE_SESSION", "SEQUENCE", "RECLAIM_COMPLETE")
SERIES = {point: ("/export" if point == "/mnt/three" else "/", point)
          for point in ("/mnt/three", "/mnt/four", "/mnt/private")}


def by_mount(path, shared):
    """What mountstats has, by mount point and kind; with the calls that the mounts share, or without."""
    found, at = {}, None
    for line in path.read_text().splitlines():
        device = re.match(r"device .* mounted on (\S+) with fstype (\S+)", line)
        if device:
            at = found.setdefault(device[1], {}) if device[2] in ("nfs", "nfs4") else None
        op = PER_OP.match(line)
        if op and at is not None and (shared or op[1] not in SHARED):
            into = at.setdefault(KINDS.get(op[1], "metadata"), dict.fromkeys(PER_OP_FIELDS + ("rows",), 0))
            into["rows"] += 1
            for field, value in zip(PER_OP_FIELDS, map(int, op[2].split())):
                into[field] += value
    return found


def check_turn(folder, turn):
    before, after = (Metrics(folder / f"{point}-{turn}.prom") for point in ("before", "after"))
    ours, polled = difference(before, after), after.get("rpc_source", source="mountstats")
    old, new = (by_mount(folder / f"{point}-{turn}.mountstats", polled) for point in ("before", "after"))
    # Which has the bytes from mountstats.
    tracepoints = after.get("rpc_source", source="tracepoints")
    all_old, all_new = (by_mount(folder / f"{point}-{turn}.mountstats", True) for point in ("before", "after"))
    need(len(new) == 4 and new["/mnt/three"] == new[r"/mnt/the\040same"], "mountstats has", sorted(new))
    calls = 0
    for mount, (export, point) in SERIES.items():
        labels = {"server": "127.0.0.1", "export": export, "mountpoint": point}
        errors = sum(fields["errors"] - old[mount].get(kind, {}).get("errors", 0)
                     for kind, fields in new[mount].items())
        value = ours.get("nfs_mount_errors_total", **labels)
        need(value == errors, turn, mount, "errors: mountstats has", errors, "and we", value)
        for kind, fields in new[mount].items():
            theirs = {name: value - old[mount].get(kind, {}).get(name, 0) for name, value in fields.items()}
            if tracepoints:
                theirs |= {way: all_new[mount][kind][way] - all_old[mount].get(kind, {}).get(way, 0)
                           for way in ("sent", "received")}
            for name, family in NAMES.items():
                value = ours.get(f"nfs_mount_{family}_total", kind=kind, **labels)
                need(value == theirs[name], turn, mount, kind, name, ": mountstats has", theirs[name], "and we", value)
            seconds = ours.get("nfs_mount_seconds_total", kind=kind, **labels)
            need(abs(seconds * 1000 - theirs["execute_ms"]) <= 1 + fields["rows"],  # each is cut to milliseconds
                 turn, mount, kind, "took", seconds, "s, by mountstats", theirs["execute_ms"], "ms")
            calls += theirs["ops"]
        if not polled:
            parts, total = (ours.get(f"nfs_mount_{name}seconds_total", **labels) for name in ("phase_", ""))
            need(parts == total, mount, "has phases of", parts, "s and calls of", total)
    return calls


def check_sums(folder, turn):
    """The mounts add up to the server."""
    metrics = Metrics(folder / f"after-{turn}.prom")
    for name in ("calls", "seconds", "phase_seconds"):
        label = ["phase"] if name == "phase_seconds" else []
        theirs = merged(metrics, f"rpc_op_{name}_total", "server", *label)
        ours = merged(metrics, f"nfs_mount_{name}_total", "server", *label)
        theirs = {key: value for key, value in theirs.items() if value}
        need(ours == theirs, turn, name, ": the mounts have", ours, "and the server", theirs)
    for way in ("sent", "received"):
        theirs, ours = (metrics.get(f"{name}_{way}_bytes_total") for name in ("rpc", "nfs_mount"))
        need(ours == theirs, turn, way, "bytes of the mounts are", ours, "and of the server", theirs)
    kinds = {}
    for op, kind in ((op, KINDS.get(op, "metadata")) for op in metrics.values("rpc_op_calls_total", "op")):
        kinds[kind] = kinds.get(kind, 0) + metrics.get("rpc_op_calls_total", op=op)
    for kind, count in kinds.items():
        need(metrics.get("nfs_mount_calls_total", kind=kind) == count, turn, kind, "has", count, "calls")


def exact(name):
    @judgement
    def check(folder):
        calls = 0
        for turn in TURNS:
            calls += check_turn(folder / name, turn)
            check_sums(folder / name, turn)
        last = Metrics(folder / name / "after-1.prom")
        points = last.values("nfs_mount_calls_total", "mountpoint")
        need(points - {""} == {point for _, point in SERIES.values()}, "series of", points)
        has_all_families(last)
        return f"{calls} calls"
    check.__name__ = f"calls_of_each_mount_equal_mountstats_source_{name}"


def folders(name):
    @judgement
    def check(folder):
        before, both, alone = (Metrics(folder / name / f"folders-{at}.prom") for at in ("before", "both", "alone"))
        shared = difference(before, both).get("nfs_mount_calls_total", export="/", mountpoint="", kind="metadata")
        own = difference(both, alone).get("nfs_mount_calls_total", export="/b", mountpoint="/mnt/b", kind="metadata")
        need(shared >= 20, "both mounts have", shared, "calls")
        need(own >= 20, "the second one has", own, "calls")
        points = alone.values("nfs_mount_calls_total", "mountpoint")
        need("/mnt/a" not in points, "series of", points)
        return f"{shared} and {own} calls"
    check.__name__ = f"folders_of_one_superblock_share_a_series_source_{name}"


for each in ("default", "tracepoints", "mountstats"):
    exact(each)
    folders(each)
