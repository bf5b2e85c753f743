# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.reading import Metrics, read_json

OTHERS = {("/mnt/c2", "nconnect", "1", "4"), ("/mnt/c3", "wsize", "65536", "262144"),
          ("/mnt/c5", "recovery", "soft", "hard"), ("/mnt/c7", "readahead", "131072", "1048576")}


def findings(folder, name):
    found = [f for f in read_json(folder / f"{name}.json")["findings"] if f["rule"] == "mount_profile"]
    return found, {re.match(r"\S+ (\S+ ?\S*): (\S+) is (\S+), wanted (\S+):", f["reason"]).groups() for f in found}


@judgement
def a_profile_finds_exactly_the_clients_that_are_mounted_otherwise(folder):
    found, facts = findings(folder, "profile")
    need(facts == OTHERS and len(found) == 4, found)
    need(not findings(folder, "present")[0], "the present mounts differ from their own profile")
    need([f["reason"].split(":")[1] for f in findings(folder, "module")[0]][0].startswith(" sunrpc is "), "module")
    return f"{len(found)} of 8"


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
    need(metrics.get("sunrpc_slots_configured", setting="nfs.max_session_slots") >= 1, "slots")
    return modules["sunrpc"]["build"]
