# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import merged
from judge.reading import Metrics, difference, increases, mountstats, read_json
from judge.truths import has_all_families

MB = 1 << 20
# Owner, kind, way: bytes of data, beside the headers.
MOVED = {
    ("slurm:4711", "write", "sent"): 10 * MB,
    ("slurm:4712", "write", "sent"): 15 * MB,
    ("slurm:4713", "write", "sent"): 6 * MB,
    ("pod:train/loader-0", "read", "received"): 6 * MB,
    ("container:infer", "read", "received"): 6 * MB,
    ("lsf:4711", "read", "received"): 6 * MB,
    ("pbs:4711[3]", "read", "received"): 6 * MB,
    ("unit:copy.service", "read", "received"): 6 * MB,
    ("unit:copy.service", "write", "sent"): 6 * MB,
}


def adds_up(metrics):
    """The owners are the server."""
    for name in ("calls", "seconds"):
        theirs = {key: value for key, value in merged(metrics, f"rpc_op_{name}_total", "server").items() if value}
        ours = merged(metrics, f"nfs_owner_{name}_total", "server")
        need(ours == theirs, name, ": the owners have", ours, "and the server", theirs)
    for way in ("sent", "received"):
        theirs, ours = (metrics.get(f"{name}_{way}_bytes_total") for name in ("rpc", "nfs_owner"))
        need(ours in (0, theirs), way, "bytes of the owners are", ours, "and of the server", theirs)
    waits = sum(metrics.get("rpc_phase_seconds_total", phase=phase) for phase in ("session", "slot", "send"))
    need(abs(metrics.get("nfs_owner_wait_seconds_total") - waits) < 1e-6, "not all of the waits, which are", waits, "s")


def owners_of(folder, turn):
    before, after = (Metrics(folder / f"{point}-{turn}.prom") for point in ("before", "after"))
    adds_up(after)
    return difference(before, after)


@judgement
def calls_of_each_owner_are_its_own(folder):
    processes = int((folder / "processes").read_text())
    for turn in ("first", "second"):
        ours = owners_of(folder / "default", turn)
        reads = ours.get("nfs_owner_calls_total", owner="slurm:4714", kind="read")
        need(reads == processes, turn, reads, "READs of", processes, "processes")
        need(ours.get("nfs_owner_calls_total", owner="user:1000", kind="metadata") > 0, turn, "the user has no call")
        moved = sum(ours.get(f"nfs_owner_{way}_bytes_total") for way in ("sent", "received"))
        if not moved:  # by the source tracepoints
            return "bytes are not known"
        moved_by = MOVED | {("slurm:4714", "read", "received"): processes << 16}
        for (owner, kind, way), wanted in moved_by.items():
            value = ours.get(f"nfs_owner_{way}_bytes_total", owner=owner, kind=kind)
            # A page that changes while it is written back is written again, from 6.12 on with up to 256 KiB around it.
            again = 1.05 if kind == "write" and owner != "slurm:4713" else 1.01
            need(wanted <= value <= wanted * again, turn, owner, kind, way, value, "bytes; it moved", wanted)
        rest = sum(ours.get(f"nfs_owner_{way}_bytes_total", owner="kernel") for way in ("sent", "received"))
        need(rest < moved / 20, turn, "the kernel has", rest, "of", moved, "bytes")
    has_all_families(Metrics(folder / "default" / "after-second.prom"))
    return f"{moved} bytes, {rest} of them the kernel's"


@judgement
def tracepoints_know_owners_but_of_pages_written_back(folder):
    """Where the kernel may miss events (7.x), they know none."""
    if not Metrics(folder / "tracepoints" / "after-second.prom").values("nfs_owner_calls_total", "owner"):
        need(Metrics(folder / "default" / "after-second.prom").get("nfs_owner_sent_bytes_total"), "none knows owners")
        return "not known"
    for turn in ("first", "second"):
        exact, ours = (merged(owners_of(folder / name, turn), "nfs_owner_calls_total", "owner", "kind")
                       for name in ("default", "tracepoints"))
        for (owner, kind), calls in exact.items():
            if owner != "kernel":
                need(ours.get((owner, kind), 0) == calls or kind == "write" and ours.get((owner, kind), 0) <= calls,
                     turn, owner, kind, ours.get((owner, kind)), "of", calls, "calls")
    return ", ".join(f"{' '.join(key)}: {calls:.0f} of {exact.get(key, 0):.0f}" for key, calls in sorted(ours.items()))


@judgement
def short_jobs_are_bounded_and_their_increases_add_up(folder):
    files = sorted((folder / "default").glob("jobs-*.prom"), key=lambda path: int(path.stem.split("-")[1]))
    need(len(files) > 2, "too few files")
    for earlier, path in zip(files, files[1:]):
        metrics = Metrics(path)
        owners = metrics.values("nfs_owner_calls_total", "owner")
        need(len(owners) <= 33, len(owners), "owners")
        ours = increases(Metrics(earlier), metrics)
        adds_up(ours)
        kernels = [sum(op["ops"] for op in mountstats(file.with_suffix(".mountstats")).values())
                   for file in (earlier, path)]
        calls = ours.get("nfs_owner_calls_total")
        need(calls == kernels[1] - kernels[0], path, calls, "calls of owners; mountstats", kernels)
        need(ours.get("nfs_owner_calls_total", owner="other") > 0, path, "no owner is without a series")
    ended = owners & ({owner for owner, *_ in MOVED} | {"slurm:4714", "user:1000"})
    need(not ended, "owners that have ended for long:", ended)
    lost = [metrics.get("events_dropped_total", reason=reason) for reason in ("rpc_owner", "rpc_owner_gone")]
    need(not lost[0] and lost[1] < metrics.get("nfs_owner_calls_total") / 100, lost, "calls have no owner")
    costs = [[int(value) for value in line.split()] for line in (folder / "costs").read_text().splitlines()]
    sizes = [line[0] for line in costs]
    need(max(sizes) < 9000, "the agent has so many kB:", sizes)  # 7,500 when its tables are full
    share = (sum(costs[-1][1:3]) - sum(costs[0][1:3])) / (costs[-1][3] - costs[0][3])
    return f"{len(files)} files, {len(owners)} owners, {sizes[-1]} kB, {share:.2f} % of a CPU"


@judgement
def owners_off_costs_no_series(folder):
    metrics = Metrics(folder / "off" / "after-second.prom")
    need(not metrics.values("nfs_owner_calls_total", "owner"), "there are owners")
    need(metrics.get("rpc_op_calls_total") > 0, "no call")


@judgement
def the_holder_and_the_waiter_are_named(folder):
    (server,) = read_json(folder / "roles.json")["servers"]
    owners = {owner["owner"]: owner for owner in server["owner_calls"]}
    holder, waiter = owners["slurm:4711"], owners["slurm:4712"]
    need(holder["held_share"] > waiter["held_share"], holder, waiter)
    need(waiter["waited_share"] > holder["waited_share"], holder, waiter)
    need(len(owners) <= 4, sorted(owners))
    text = " ".join((folder / "roles.txt").read_text().split())
    need("calls of slurm:4711 hold them for" in text and "% are of slurm:4712." in text, text)
    return f"held {holder['held_share']:.0%}, waited {waiter['waited_share']:.0%}"
