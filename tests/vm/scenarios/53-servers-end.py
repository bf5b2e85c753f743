# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, increases

READS, POINTS, JOBS, OWNERS = 16, 61, 8, 32
# Of the server, of owners, of mounts.
SAME = [["rpc_op_calls_total", "nfs_owner_calls_total", "nfs_mount_calls_total"]] + [
    [f"{whose}_{way}_bytes_total" for whose in ("rpc", "nfs_owner", "nfs_mount")] for way in ("sent", "received")]


def check(folder, step=3):
    """Each server has its own figures, none is kept for long, and all increases are in all families."""
    earlier, calls, most = None, 0, 0
    for point in [*range(step, POINTS, step), POINTS]:
        metrics = Metrics(folder / f"at-{point}.prom")
        first = point - step + 1 if point < POINTS else point
        for new in range(first, point + 1) if point < POINTS else (1,):
            reads = metrics.get("rpc_op_calls_total", server=f"storage-{new}", op="READ")
            need(reads == READS, new, "has", reads, "READs at point", point)
        for job in range(JOBS * first, JOBS * (point + 1)):
            reads = metrics.get("nfs_owner_calls_total", owner=f"slurm:{job}", kind="read")
            need(reads == READS / JOBS, "job", job, "has", reads, "READs at point", point)
        owners = metrics.values("nfs_owner_calls_total", "owner")
        need(len(owners) <= OWNERS and "other" not in owners, "at point", point, sorted(owners))
        servers = metrics.values("rpc_op_calls_total", "server")
        need("other" not in servers and "other" not in metrics.values("rpc_op_calls_total", "op"),
             "there is no room at point", point, "for one of", servers)
        most = max(most, len(servers))
        if earlier:
            ours = increases(earlier, metrics)
            for names in SAME:
                grown = {name: ours.get(name) for name in names if metrics.each(name)}
                need(len(grown) == len(names) or folder.name == "tracepoints", "at point", point, "only", grown)
                need(len(set(grown.values())) <= 1, "increases differ before point", point, ":", grown)
            calls += ours.get("rpc_op_calls_total")
        earlier = metrics
    need(most <= 34, most, "servers at once")
    dropped = earlier.each("events_dropped_total")
    need(not earlier.get("events_dropped_total", reason="rpc_server"), dropped)
    return f"{most} servers at once, {calls} calls"


@judgement
def each_of_sixty_servers_and_488_jobs_has_its_own_figures(folder):
    return check(folder / "default")


@judgement
def the_same_with_a_usual_interval(folder):
    return check(folder / "usual", 1)


@judgement
def the_same_with_trace_events(folder):
    return check(folder / "tracepoints")


@judgement
def an_agent_and_its_file_do_not_grow(folder):
    """From the tenth look on, since the third."""
    most = {}
    for name in ("default", "usual"):
        sizes = [list(map(int, line.split())) for line in (folder / name / "sizes").read_text().splitlines()]
        for what, column in zip(("kB of memory", "bytes of the file"), zip(*sizes)):
            before, after = most[f"{name}: {what}"] = max(column[3:10]), max(column[10:])
            need(after < before * 1.1, name, what, column)
    return most
