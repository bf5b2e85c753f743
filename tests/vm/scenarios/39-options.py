# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics


@judgement
def the_metrics_have_the_options_in_force(folder):
    metrics = Metrics(folder / "options.prom")
    mounts = {dict(labels)["mountpoint"]: dict(labels) for labels in metrics.each("nfs_mount_info")}
    for i in range(1, 9):
        mount = mounts[f"/mnt/c{i}"]
        need(mount["nconnect"] == ("1" if i == 2 else "4"), mount)
        need(mount["wsize"] == ("65536" if i == 3 else "262144"), mount)
        need(mount["recovery"] == ("soft" if i == 5 else "hard"), mount)
        need(mount["sec"] == "sys" and mount["proto"] == "tcp" and mount["lookupcache"] == "all", mount)
        ahead = metrics.get("nfs_mount_readahead_bytes", mountpoint=f"/mnt/c{i}")
        need(ahead == (131072 if i == 7 else 1048576), ahead)
    modules = {dict(labels)["module"]: dict(labels) for labels in metrics.each("sunrpc_info")}
    need(len(modules["sunrpc"]["build"]) >= 16 and modules["sunrpc"]["origin"] == "in-tree", modules)
    return modules["sunrpc"]["build"]
