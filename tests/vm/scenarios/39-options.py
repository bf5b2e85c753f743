# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics


@judgement
def the_metrics_have_the_options_in_force(folder):
    metrics = Metrics(folder / "options.prom")
    mounts = {dict(labels)["mountpoint"]: dict(labels) for labels in metrics.each("nfs_mount_info")}
    for mountpoint, *options, bytes_ahead in (
            ("/mnt/c1", "4", "262144", "hard", 1 << 20), ("/mnt/c2", "1", "65536", "soft", 128 << 10)):
        mount = mounts[mountpoint]
        need([mount[name] for name in ("nconnect", "wsize", "recovery")] == options, mount)
        need(mount["sec"] == "sys" and mount["proto"] == "tcp" and mount["lookupcache"] == "all", mount)
        ahead = metrics.get("nfs_mount_readahead_bytes", mountpoint=mountpoint)
        need(ahead == bytes_ahead, ahead)
    modules = {dict(labels)["module"]: dict(labels) for labels in metrics.each("sunrpc_info")}
    need(len(modules["sunrpc"]["build"]) >= 16 and modules["sunrpc"]["origin"] == "in-tree", modules)
    return modules["sunrpc"]["build"]
