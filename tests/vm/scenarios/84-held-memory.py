# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.reading import Metrics, events, number


# Who waits for the server, which stays silent, waits for longer. A busy machine takes 10 s for a start.
SOON_MS = 40000


@judgement
def nobody_waits_for_memory_that_is_held(folder):
    took = {name: number(folder / f"{name}.milliseconds")
            for name in ("write", "text", "after", "hidden", "agent", "start", "again", "trace")}
    need(all(took[name] < SOON_MS for name in took), took)
    return took


@judgement
def what_can_be_named_is(folder):
    named, hidden = (Metrics(folder / f"{name}.prom") for name in ("named", "hidden"))
    need(named.get("nfs_owner_calls_total", owner="slurm:4711", kind="read") > 0, "4711")
    need(hidden.get("nfs_owner_calls_total", owner="slurm:4711", kind="read") > 0, "4711 later")
    need(hidden.get("nfs_owner_calls_total", owner="slurm:s1JHM889NVM301", kind="read") > 0, "the other")
    need(named.get("nfs_owner_calls_total", owner="env:RUN=free", kind="read") > 0, "the variable")
    for owner in "container:held container:docked pod:train/loader-0 unit:held.service user:1000 slurm:4712".split():
        need(named.get("nfs_owner_calls_total", owner=owner, kind="read") > 0, owner, "whose memory is held")
    return sorted(hidden.values("nfs_owner_calls_total", "owner"))


@judgement
def who_prints_is_looked_for(folder):
    forged = [event for event in events(folder / "events.json") if event.get("name") == "unverified_xid"]
    groups = [event.get("cgroup", "") for event in forged]
    need(any("s1JHM889NVM301" in group for group in groups), groups)
    return groups


# What user/base/helper.c gives to other processes.
OTHERS = re.compile(r"(/proc/\d+/(task/\d+/)?)?(cmdline|environ|maps|status|exe|cwd|root|fd)\b"
                    r"|/mnt/|/var/log/pods|/etc/(fstab|xidscope)"
                    r"|/var/lib/(docker|containers)|/run/containerd"
                    r"|/usr/lib/debug|(.*/)?acks$|(.*/)?events.json")


@judgement
def the_main_process_reads_no_path_of_others(folder):
    seen = set()
    for name in ("agent", "trace"):
        seen |= {line.removeprefix("path=").strip('"') for line in (folder / f"{name}.paths").read_text().splitlines()}
    need("health.json" in seen and "/proc/1/ns/net" in seen, seen)
    need(not list(filter(OTHERS.match, seen)), list(filter(OTHERS.match, seen)))
    return f"{len(seen)} paths"
