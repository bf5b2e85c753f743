# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops, check_replies
from judge.reading import Metrics, mountstats
from judge.truths import compare_rtt, compare_with_mountstats, has_all_families


def exact(mount):
    @judgement
    def check(folder):
        ours = compare_with_mountstats(folder, f"{mount}-before", f"{mount}-after")
        compare_rtt(folder, f"{mount}-before", f"{mount}-after", ours)
        after = Metrics(folder / f"{mount}-after.prom")
        check_no_drops(after)
        if has_all_families(after):
            check_replies(ours)
        alive = after.each("rpc_slots", kind="max")
        need(not has_all_families(after) or len(alive) == int(mount.split("-")[1]),
             len(alive), "transports")
        foreign = after.values("rpc_op_calls_total", "op") - set(mountstats(folder / f"{mount}-after.mountstats"))
        need(mount != "3-4" or not foreign, "calls of other programs than NFS:", foreign)
        server = "::1" if mount == "4.2-4" else "127.0.0.1"
        need({dict(labels)["server"] for labels in alive} <= {server}, alive, "not of", server)
        return f"{ours.get('rpc_op_calls_total')} calls"
    check.__name__ = f"counts_bytes_and_times_equal_mountstats_v{mount.replace('-', '_nconnect_')}"


for each_mount in ("3-4", "4.0-1", "4.1-1", "4.2-4"):
    exact(each_mount)


@judgement
def what_is_loaded_beside_the_source_is_not_refused(folder):
    """A refusal is a line in the log, and costs families alone."""
    for line in (folder / "agent.log").read_text().splitlines():
        need("cannot look for tasks" not in line and "TCP's figures are not known" not in line, line)
