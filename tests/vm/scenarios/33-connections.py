# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import Skip, judgement, need, promql
from judge.reading import Metrics


def info(folder, point):
    """Label sets of the connections, by what the file says."""
    return [dict(labels) for labels in Metrics(folder / f"{point}.prom").each("rpc_transport_info")]


def by_btf(folder):
    if not Metrics(folder / "first.prom").get("rpc_source", source="btf"):
        raise Skip("the client is in another network namespace, which only source btf sees")


@judgement
def connections_have_the_addresses_of_their_sockets(folder):
    by_btf(folder)
    for point in ("first", "again"):
        ours = [(c["local"], c["remote"]) for c in info(folder, point)]
        sockets = [tuple(line.split()) for line in (folder / f"{point}.sockets").read_text().splitlines()]
        need(len(sockets) == 8 and sorted(ours) == sorted(sockets), point, ours, "and the sockets are", sockets)
        need({c["transport"] for c in info(folder, point)} == {f"tcp/{i}" for i in range(8)}, info(folder, point))
        need({c["protocol"] for c in info(folder, point)} == {"tcp"}, info(folder, point))
    need(not info(folder, "gone"), "what is unmounted is still there:", info(folder, "gone"))


def find_late(folder, files):
    """Evaluates the documented query over the files: it finds the late connection and no other one."""
    late = (folder / "late").read_text().strip()
    expected = [c for c in info(folder, "10") if c["local"] == late]
    need(len(expected) == 1, late, "is not among", info(folder, "10"))
    del expected[0]["protocol"]
    promql.check(promql.documented("rpc_transport_info"), files, [{"instance": "node", **expected[0]}])
    return late


def lines(folder, name, kind):
    """The lines of a report's summary on such connections."""
    summary = (folder / f"{name}.txt").read_text().split("\nSummary\n")[1]
    return [line for line in summary.split("\n") if line.startswith(f"- {kind} connection")]


def the_one(folder, name, kind):
    """The only such line, which is on the late connection."""
    by_btf(folder)
    late = (folder / "late").read_text().strip()
    found = lines(folder, name, kind)
    need(len(found) == 1 and f", {late} to 10.0.6.1:2049: " in found[0], found, "and the late one is", late)
    return found[0]


@judgement
def the_documented_query_finds_the_late_connection(folder):
    by_btf(folder)
    return find_late(folder, sorted(folder.glob("[12][0-9].prom")))


@judgement
def the_documented_query_finds_the_stuck_connection(folder):
    by_btf(folder)
    return find_late(folder, sorted(folder.glob("3[0-9].prom")))


@judgement
def the_report_names_the_late_connection(folder):
    slow = the_one(folder, "report", "Slow")
    # Its packets are 400 ms late. The others' calls take 10 ms and the time of an emulated CPU.
    found = re.search(r": (\d+) ms to a reply, on the median connection (\S+) ms; ", slow)
    need(found and 400 <= int(found[1]) < 900 and float(found[2]) < 150, slow)
    need("has 8 connections: each had " in (folder / "report.txt").read_text(), "no shares")
    need(not lines(folder, "report", "Stuck"), "a stuck one, too")
    return slow


@judgement
def it_is_named_also_where_no_call_meets_another(folder):
    slow = the_one(folder, "alone", "Slow")
    return slow


@judgement
def the_report_names_the_stuck_connection(folder):
    stuck = the_one(folder, "stuck", "Stuck")
    need(re.search(r" calls? unanswered, the oldest for \S+ s[;.]", stuck), stuck)
    return stuck
