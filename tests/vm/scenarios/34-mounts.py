# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need, promql
from judge.reading import Metrics, difference, read_json
from judge.truths import has_all_families


def rows(metrics, name, *labels):
    return sorted(tuple(dict(found)[label] for label in labels) for found in metrics.each(name))


def mounted(folder):
    """What mountinfo shows, by its own fields; no value here needs more than these two to be unescaped."""
    found = []
    for line in (folder / "mountinfo").read_text().splitlines():
        fields, kind = line.split(" - ")
        kind, source, options = kind.split()
        if kind.startswith("nfs") and kind != "nfsd":
            host, path = source.rsplit(":", 1)
            version = [option[5:] for option in options.split(",") if option.startswith("vers=")]
            point = fields.split()[4].replace(r"\040", " ").replace(r"\043", "#")
            found.append((host.strip("[]"), path, point, *version))
    return sorted(found)


@judgement
def mounts_are_those_of_mountinfo(folder):
    ours = rows(Metrics(folder / "13.prom"), "nfs_mount_info", "server", "export", "mountpoint", "version")
    need(len(ours) == 4 and ours == mounted(folder), ours, "and mountinfo has", mounted(folder))
    need(("10.0.9.1", "/export/folder", "/mnt/bind", "3") in ours, "no bind mount:", ours)
    gone = rows(Metrics(folder / "gone.prom"), "nfs_mount_info", "mountpoint")
    need(gone == [("/mnt/one",), ("/mnt/two #2",)], "after the unmount there are", gone)
    return f"{len(ours)} mounts"


@judgement
def a_mount_of_another_network_namespace_has_the_name_of_its_calls(folder):
    other = Metrics(folder / "other.prom")
    server = dict(rows(other, "nfs_mount_info", "mountpoint", "server")).get("/mnt/other")
    need(other.each("rpc_op_calls_total", server=server), "no calls to", server)
    need(("@" in server) == bool(other.get("rpc_source", source="btf")), "its server is", server)
    return server


@judgement
def the_options_in_force_are_shown(folder):
    metrics = Metrics(folder / "other.prom")
    mounts = {dict(labels)["mountpoint"]: dict(labels) for labels in metrics.each("nfs_mount_info")}
    for mountpoint, *options, bytes_ahead in (
            ("/mnt/other", "4", "262144", "hard", 1 << 20), ("/mnt/one", "1", "65536", "soft", 128 << 10)):
        mount = mounts[mountpoint]
        need([mount[name] for name in ("nconnect", "wsize", "recovery")] == options, mount)
        need(mount["sec"] == "sys" and mount["proto"] == "tcp" and mount["lookupcache"] == "all", mount)
        ahead = metrics.get("nfs_mount_readahead_bytes", mountpoint=mountpoint)
        need(ahead == bytes_ahead, ahead)
    modules = {dict(labels)["module"]: dict(labels) for labels in metrics.each("sunrpc_info")}
    need(len(modules["sunrpc"]["build"]) >= 16 and modules["sunrpc"]["origin"] == "in-tree", modules)
    return modules["sunrpc"]["build"]


@judgement
def two_addresses_are_one_storage_system(folder):
    last = Metrics(folder / "13.prom")
    ours = rows(last, "rpc_server_info", "server", "storage")
    need(ours == [("10.0.9.1", "scratch"), ("10.0.9.2", "scratch"), ("::1", "other")], ours)
    query = promql.documented("rpc_server_info")
    if not last.each("rpc_received_bytes_total"):  # which source tracepoints has not
        query = query.replace("rpc_received_bytes_total", "rpc_op_calls_total")
    promql.check(query, sorted(folder.glob("1[0-3].prom")), [{"storage": "scratch"}, {"storage": "other"}])


def sockets_of(folder, name):
    return sorted(tuple(line.split()) for line in (folder / name).read_text().splitlines())


@judgement
def a_connection_to_another_address_has_that_address(folder):
    moved = Metrics(folder / "moved.prom")
    ours, sockets = rows(moved, "rpc_transport_info", "local", "remote"), sockets_of(folder, "moved.sockets")
    if not moved.get("rpc_source", source="btf"):
        raise Skip("in the other sources the server of a connection is that of a mount with its address")
    need("10.0.9.3:2049" in [remote for _, remote in sockets], "it was not moved:", sockets)
    need(ours == sockets, ours, "and the sockets are", sockets)


@judgement
def connections_are_those_of_the_sockets(folder):
    last = Metrics(folder / "13.prom")
    ours, sockets = rows(last, "rpc_transport_info", "local", "remote"), sockets_of(folder, "sockets")
    if not last.get("rpc_source", source="btf"):
        need(not ours, ours)
        return "none: this source does not show them"
    need(ours == sockets, ours, "and the sockets are", sockets)
    return has_all_families(last) and f"{len(ours)} connections"


@judgement
def memory_that_is_used_again_has_its_new_server(folder):
    other = Metrics(folder / "other.prom")
    turns = difference(other, Metrics(folder / "turns.prom"))
    ops = turns.values("rpc_op_calls_total", "op")
    calls = [{op: turns.get("rpc_op_calls_total", server=server, op=op) for op in ops}
             for server in ("10.0.9.4", "10.0.9.5")]
    need(calls[0] == calls[1] and calls[0]["FSINFO"] >= 3, "one server has", calls[0], "the other one", calls[1])
    if not other.get("rpc_source", source="btf"):
        raise Skip("in the other sources a transport has no address")
    servers = {}
    for dump in folder.glob("10.0.9.*.json"):
        for found in read_json(dump):
            found = found["formatted"]
            servers.setdefault(found["key"], set()).add(found["value"]["server"])
    again = [address for address, numbers in servers.items() if len(numbers) > 1]
    need(again, "no transport got another's memory, of", len(servers))
    return f"{len(again)} of {len(servers)} addresses were used again"
