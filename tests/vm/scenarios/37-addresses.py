# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import Skip, judgement, need
from judge.reading import Metrics

# The labels of each, and the addresses and ports of its connections.
SERVERS = {
    ("127.0.0.1",): [("127.0.0.1", "2049")],
    ("127.0.0.1:20127",): [("127.0.0.1", "20127")],
    ("127.0.0.2",): [("127.0.0.2", "2049")],
    ("many",): [("127.0.0.3", "2049"), ("127.0.0.4", "2049")],
    ("127.0.0.5", "127.0.0.6"): [("127.0.0.5", "2049"), ("127.0.0.6", "2049")],
}


def shown_transports(folder):
    """What the kernel says: address, port, slots at most."""
    files = {}
    for line in (folder / "sysfs").read_text().splitlines():
        path, value = line.split(":", 1)
        transport, name = path.rsplit("/", 1)
        key, _, number = value.partition("=")
        files.setdefault(transport, {})[key if number else name] = number or value
    return [(f["dstaddr"], f.get("dst_port"), int(f["max_num_slots"])) for f in files.values() if "max_num_slots" in f]


def sums(metrics, name, labels, **others):
    return sum(metrics.get(name, server=label, **others) or 0 for label in labels)


@judgement
def each_source_counts_the_same_transports(folder):
    shown = shown_transports(folder)
    if not any(port for _, port, _ in shown):
        raise Skip("this kernel's sysfs does not show ports")
    for source in (folder / "sources").read_text().split():
        metrics = Metrics(folder / source / "after.prom")
        for labels, ends in SERVERS.items():
            slots = [most for address, port, most in shown if (address, port) in ends]
            counted = int(sums(metrics, "rpc_slots", labels, kind="max"))
            need(slots and counted == sum(slots), source, labels, "slots:", counted, "not", slots)
    return f"{len(shown)} transports in sysfs"


@judgement
def each_connect_counts(folder):
    """A connect is 1 or 2 in the kernel's count, and may be repeated. Of trunking, mountstats does not see one end."""
    sources = [source for source in (folder / "sources").read_text().split() if source != "tracepoints"]
    counted = [[int(sums(Metrics(folder / source / "after.prom"), "rpc_connects_total", labels))
                for labels in list(SERVERS)[:4]] for source in sources]
    for each in counted:
        need(each == counted[0] and all(map(int.__ge__, each, (1, 1, 1, 4))), "connects:", counted)
    return counted[0]


@judgement
def each_server_has_its_calls(folder):
    sources = (folder / "sources").read_text().split()
    calls = {}
    for source in sources:
        metrics = Metrics(folder / source / "after.prom")
        calls[source] = [int(sums(metrics, "rpc_op_calls_total", labels, op="READ"))
                         for labels in list(SERVERS)[:4]]
        need(calls[source] == [4, 4, 4, 8], source, "READs of each server:", calls[source])
        mounts = re.findall(r'nfs_mount_info\{[^}]*server="([^"]*)"', (folder / source / "after.prom").read_text())
        need("127.0.0.1:20127" in mounts and "many" in mounts, "mounts:", mounts)
    return calls


@judgement
def a_port_is_known_of_a_client_that_was_there_before(folder):
    reads = int(sums(Metrics(folder / "late" / "after.prom"), "rpc_op_calls_total", ("127.0.0.1:20127",), op="READ"))
    need(reads == 4, "READs:", reads)
    return f"{reads} READs"
