# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops, shares, transports
from judge.reading import Metrics, between, read_json, runtime
from judge.truths import compare_with_mountstats, saturates


@judgement
def rdma_counts_equal_mountstats(folder):
    calls = 0
    for name in ("v3", "v4.2"):
        calls += compare_with_mountstats(folder, f"{name}-before",
                                         f"{name}-after").get("rpc_op_calls_total")
        check_no_drops(Metrics(folder / f"{name}-after.prom"))
        default = int((folder / "slots.default").read_text())
        need(transports(folder, f"{name}-after") == {"rdma/0": default},
             transports(folder, f"{name}-after"), "not", default, "slots")
        # The transport does not count the slots in use.
        need(transports(folder, f"{name}-after", "allocated") == {"rdma/0": 0}, "allocated")
    return f"{calls} calls, {default} slots"


@judgement
def rdma_connections_have_the_addresses_of_their_ids(folder):
    ports = []
    for name, address in (("v3", "10.0.8.1"), ("v4.2", "[fd00:8::1]")):
        [labels] = [dict(key) for key in Metrics(folder / f"{name}-after.prom").each("rpc_transport_info")]
        need(labels["protocol"] == "rdma" and labels["remote"] == f"{address}:20049", labels)
        lines = map(str.split, (folder / f"{name}.cm_id").read_text().splitlines())
        ids = [dict(zip(words, words[1:])) for words in lines]
        # Both ends are here: the client's has the server's port as its destination.
        local = [found["src-addr"] for found in ids if found.get("dst-addr", "").endswith(":20049")]
        need([text.replace("[", "").replace("]", "") for text in local] ==
             [labels["local"].replace("[", "").replace("]", "")], labels, "and the ids are", ids)
        ports.append(labels["local"])
    return ", ".join(ports)


@judgement
def four_rdma_slots_saturate_and_128_do_not(folder):
    # In Linux 7.2 a slot also waits for its send to be complete, after its call has ended.
    return saturates(folder, "slot", 4, 128, 32 - 4, more=4)


@judgement
def few_credits_show_as_send(folder):
    ours = compare_with_mountstats(folder, "credits-before", "credits-after")
    seconds = runtime(folder / "credits.json")
    saturated = float(ours.get("rpc_saturated_seconds_total", limit="send"))
    need(saturated > 0.8 * seconds, saturated, "s saturated of", seconds)
    # 16 of 32 requests have a credit: as many wait for one.
    part = float(shares(ours)["send"])
    need(0.3 < part < 0.6, "the share of send is", part)
    many = between(folder, "128-before", "128-after")
    need(shares(many)["send"] < 0.05, "and with many credits", shares(many)["send"])
    return f"{saturated:.2f} s of {seconds:.2f} s, share {part:.0%}"


@judgement
def the_first_call_that_finds_no_slot_is_delayed(folder):
    """On kernels before the fix it sleeps 250 ms when it gets a slot, and keeps the slot meanwhile."""
    ours = compare_with_mountstats(folder, "bursts-before", "bursts-after")
    bursts = read_json(folder / "bursts.json")["jobs"][0]["read"]["total_ios"] / 32
    delay = float(ours.get("rpc_phase_seconds_total", phase="delay"))
    need(ours.get("rpc_phase_seconds_total", phase="slot") > 0, "no slot was missed")
    seconds = runtime(folder / "bursts.json")
    text = f"{delay:.3f} s of delay in {bursts:.0f} bursts of 32 calls on 8 slots, " \
           f"which took {seconds:.2f} s"
    if delay or seconds / bursts >= 0.25:
        need(0.24 * bursts <= delay <= 0.3 * bursts + 0.3, text)
    return text
