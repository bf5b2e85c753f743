# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import judgement, need
from judge.checks import merged
from judge.reading import Metrics, difference
from judge.truths import has_all_families

MB = 1 << 20
# Owner, kind, way: bytes of data, beside the headers.
MOVED = {
    ("slurm:4711", "write", "sent"): 20 * MB,
    ("slurm:4712", "write", "sent"): 30 * MB,
    ("slurm:4713", "write", "sent"): 12 * MB,
    ("pod:train/loader-0", "read", "received"): 12 * MB,
    ("unit:copy.service", "read", "received"): 12 * MB,
    ("unit:copy.service", "write", "sent"): 12 * MB,
}


def adds_up(metrics):
    """The owners are the server."""
    for name in ("calls", "seconds"):
        theirs = {key: value for key, value in merged(metrics, f"rpc_op_{name}_total", "server").items() if value}
        ours = merged(metrics, f"nfs_owner_{name}_total", "server")
        need(ours == theirs, name, ": the owners have", ours, "and the server", theirs)
    for way in ("sent", "received"):
        theirs, ours = (metrics.get(f"{name}_{way}_bytes_total") for name in ("rpc", "nfs_owner"))
        need(ours == theirs, way, "bytes of the owners are", ours, "and of the server", theirs)
    waits = sum(metrics.get("rpc_op_phase_seconds_total", phase=phase) for phase in ("session", "slot", "send"))
    ours = metrics.get("nfs_owner_wait_seconds_total")
    need(abs(ours - waits) < 1e-6, "waits of the owners are", ours, "s and of the server", waits, "s")


@judgement
def calls_of_each_owner_are_its_own(folder):
    for turn in ("first", "second"):
        before, after = (Metrics(folder / "default" / f"{point}-{turn}.prom") for point in ("before", "after"))
        ours = difference(before, after)
        for (owner, kind, way), wanted in MOVED.items():
            value = ours.get(f"nfs_owner_{way}_bytes_total", owner=owner, kind=kind)
            need(wanted <= value <= wanted * 1.01, turn, owner, kind, way, value, "bytes; it moved", wanted)
        need(ours.get("nfs_owner_calls_total", owner="user:1000", kind="metadata") > 0, turn, "the user has no call")
        moved = sum(ours.get(f"nfs_owner_{way}_bytes_total") for way in ("sent", "received"))
        rest = sum(ours.get(f"nfs_owner_{way}_bytes_total", owner="kernel") for way in ("sent", "received"))
        need(rest < moved / 20, turn, "the kernel has", rest, "of", moved, "bytes")
        adds_up(after)
    has_all_families(after)
    return f"{moved} bytes, {rest} of them the kernel's"


@judgement
def short_jobs_are_bounded_and_add_up(folder):
    files = sorted((folder / "default").glob("jobs-*.prom"), key=lambda path: path.stat().st_mtime)
    need(files, "no file")
    for path in files:
        metrics = Metrics(path)
        owners = metrics.values("nfs_owner_calls_total", "owner")
        need(len(owners) <= 33, len(owners), "owners")
        adds_up(metrics)
    lost = [metrics.get("events_dropped_total", reason=reason) for reason in ("rpc_owner", "rpc_owner_gone")]
    need(not lost[0] and lost[1] < metrics.get("nfs_owner_calls_total") / 100, lost, "calls have no owner")
    need(metrics.get("nfs_owner_calls_total", owner="other") > 0, "no owner has merged")
    return f"{len(files)} files, {len(owners)} owners"


@judgement
def owners_off_costs_no_series(folder):
    metrics = Metrics(folder / "off" / "after-second.prom")
    need(not metrics.values("nfs_owner_calls_total", "owner"), "there are owners")
    need(metrics.get("rpc_op_calls_total") > 0, "no call")


@judgement
def the_holder_and_the_waiter_are_named(folder):
    (server,) = json.loads((folder / "roles.json").read_text())["servers"]
    owners = {owner["owner"]: owner for owner in server["owner_calls"]}
    holder, waiter = owners["slurm:4711"], owners["slurm:4712"]
    need(holder["held_share"] > waiter["held_share"], holder, waiter)
    need(waiter["waited_share"] > holder["waited_share"], holder, waiter)
    need(len(owners) <= 4, sorted(owners))
    text = " ".join((folder / "roles.txt").read_text().split())
    need("calls of slurm:4711 hold them for" in text and "% are of slurm:4712." in text, text)
    return f"held {holder['held_share']:.0%}, waited {waiter['waited_share']:.0%}"
