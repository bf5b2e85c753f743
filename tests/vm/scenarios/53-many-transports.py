# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.checks import check_additive, check_no_drops
from judge.reading import Metrics, mountstats_all, read_json
from judge.truths import compare_with_mountstats


TRANSPORTS, KNOWN = 1024, 1536  # RPC_MAX_TRANSPORTS and RPC_MAX_XPRTS
SERVERS = 20


def run_ns(folder, name):
    """The mean time of a run of the program that records a call."""
    def field(point, key):
        programs = read_json(folder / f"{name}-{point}.json")
        return sum(p.get(key, 0) for p in programs if p.get("name", "").startswith("rpc_stats_laten"))
    runs = field("end", "run_cnt") - field("begin", "run_cnt")
    need(runs >= 512, "only", runs, "runs")
    return (field("end", "run_time_ns") - field("begin", "run_time_ns")) / runs


@judgement
def sixty_four_addresses_with_sixteen_transports_fit(folder):
    ours = compare_with_mountstats(folder, "before", "middle", mountstats_all)
    middle = Metrics(folder / "middle.prom")
    check_no_drops(middle)
    slots = middle.each("rpc_slots", kind="max")
    need(len(slots) == TRANSPORTS, len(slots), "transports")
    need(len(middle.values("rpc_op_calls_total", "server")) == SERVERS, "servers")
    return f"{len(slots)} transports, {ours.get('rpc_op_calls_total')} calls"


@judgement
def more_transports_than_fit_cost_no_more_and_count_as_other(folder):
    ours = compare_with_mountstats(folder, "full", "after", mountstats_all)
    after = Metrics(folder / "after.prom")
    check_additive(after)
    need(ours.get("rpc_op_calls_total", server="storage-1", op="READ") == (8 + 5) * 64,
         "a server's calls")
    need(ours.get("rpc_op_calls_total", server="other", op="READ") == (104 - 96 + 8) * 64, "the others' calls")
    dropped = after.get("events_dropped_total", reason="rpc_transport")
    need(dropped == KNOWN - TRANSPORTS, dropped, "transports dropped")
    need(ours.get("events_dropped_total", reason="rpc_server") >= 8 * 64, "the calls of the rest are not reported")
    need(not after.get("events_dropped_total", reason="rpc_series"), "series dropped")
    need(len(after.each("rpc_slots", kind="max")) == TRANSPORTS, "transports have lost their entries")
    few, known, beyond = (run_ns(folder, name) for name in ("few", "known", "beyond"))
    need(max(known, beyond) < 3 * few, "a call takes", few, "ns, with more transports", known, "and", beyond)
    return f"a call takes {few:.0f} ns, with more transports {known:.0f} and {beyond:.0f}"


@judgement
def numbers_do_not_wrap_and_nothing_is_left(folder):
    text = (folder / "variables.json").read_text()
    count = {name: int(re.search(f'"{name}": *(\\d+)', text)[1])
             for name in ("rpc_server_count", "rpc_transport_count", "rpc_xprt_count")}
    need(count["rpc_xprt_count"] == 0, count["rpc_xprt_count"], "transports are left")
    need(read_json(folder / "xprts.json") == [], "entries are left")
    # More by no more than the number of CPUs.
    need(SERVERS <= count["rpc_server_count"] < SERVERS + 8, count)
    need(TRANSPORTS <= count["rpc_transport_count"] < TRANSPORTS + 8, count)
    need(not Metrics(folder / "gone.prom").each("rpc_slots"), "slots of transports that are gone")
