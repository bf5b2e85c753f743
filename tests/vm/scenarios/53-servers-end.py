# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, increases

READS, POINTS, JOBS, OWNERS = 16, 61, 8, 32


def check(folder):
    """Each server has its own figures, none is kept for long, and all increases are in all families."""
    grown = dict.fromkeys(("rpc_op_calls_total", "nfs_owner_calls_total", "nfs_mount_calls_total"), 0)
    earlier, most = None, 0
    for point in [*range(3, POINTS, 3), POINTS]:
        metrics = Metrics(folder / f"at-{point}.prom")
        for new in (point - 2, point - 1, point) if point < POINTS else (1,):
            reads = metrics.get("rpc_op_calls_total", server=f"storage-{new}", op="READ")
            need(reads == READS, new, "has", reads, "READs at point", point)
        for job in range(JOBS * (point - 2 if point < POINTS else point), JOBS * (point + 1)):
            reads = metrics.get("nfs_owner_calls_total", owner=f"slurm:{job}", kind="read")
            need(reads == READS / JOBS, "job", job, "has", reads, "READs at point", point)
        owners = metrics.values("nfs_owner_calls_total", "owner")
        need(len(owners) <= OWNERS, len(owners), "owners at point", point)
        servers = metrics.values("rpc_op_calls_total", "server")
        need("other" not in servers and "other" not in metrics.values("rpc_op_calls_total", "op"),
             "there is no room at point", point, "for one of", servers)
        most = max(most, len(servers))
        if earlier:
            ours = increases(earlier, metrics)
            for name in grown:
                grown[name] += ours.get(name)
        earlier = metrics
    need(len(set(grown.values())) == 1, "increases differ:", grown)
    need(most <= 34, most, "servers at once")
    dropped = earlier.each("events_dropped_total")
    need(not earlier.get("events_dropped_total", reason="rpc_server"), dropped)
    return f"{most} servers at once, {grown['rpc_op_calls_total']} calls"


@judgement
def each_of_sixty_servers_and_488_jobs_has_its_own_figures(folder):
    sizes = [int(line) for line in (folder / "sizes").read_text().split()]
    need(max(sizes[6:]) < sizes[6] * 1.2, "the agent has so many kB:", sizes)
    return f"{check(folder / 'default')}, {sizes[-1]} kB"


@judgement
def the_same_with_trace_events(folder):
    return check(folder / "tracepoints")
