# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.checks import check_additive, check_no_drops
from judge.reading import Metrics


@judgement
def only_calls_of_nfs_are_counted(folder):
    seen = {}
    for match in re.finditer(r" xid=0x\w+ (\w+)v\d+ (\w+) backlog=", (folder / "trace").read_text()):
        seen.setdefault(match[1], {}).setdefault(match[2], 0)
        seen[match[1]][match[2]] += 1
    text = ", ".join(f"{sum(ops.values())} {program}" for program, ops in sorted(seen.items()))
    need({"mount", "rpcbind", "lockd", "nfsacl", "nfs4_cb"} <= set(seen), "not all were there:", text)
    need(seen["nfs4_cb"].get("CB_RECALL") == 2, "callbacks:", seen["nfs4_cb"])
    metrics = Metrics(folder / "after.prom")
    check_additive(metrics)
    check_no_drops(metrics)
    ours = {op: int(metrics.get("rpc_op_calls_total", op=op))
            for op in metrics.values("rpc_op_calls_total", "op")}
    need(ours == seen["nfs"], "we have", sorted(set(ours.items()) ^ set(seen["nfs"].items())), "where we differ")
    need(metrics.values("rpc_op_calls_total", "server") == {"127.0.0.1"}, "other servers")
    return text
