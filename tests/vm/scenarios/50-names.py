# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics
from judge.truths import has_all_families


@judgement
def servers_stay_apart_and_readable(folder):
    metrics = Metrics(folder / "names.prom")
    servers = metrics.values("rpc_seconds_count", "server")
    nasty = r'na\"sty\\x\nna\\xffme{}='
    need(nasty in servers, nasty, "is not among", servers)
    need("::1" in servers, "no IPv6 server among", servers)
    if not has_all_families(metrics):
        need("10.99.0.1" in servers, "no server of two namespaces among", servers)
        return "of both namespaces together: source tracepoints cannot separate them"
    for name in ("one", "two"):
        inode = (folder / f"{name}.inode").read_text().strip()
        need(f"10.99.0.1@{inode}" in servers, name, inode, "not among", servers)
    for server in servers:
        need(metrics.get("rpc_seconds_count", server=server, op="FSINFO") > 0,
             server, "has no calls")
