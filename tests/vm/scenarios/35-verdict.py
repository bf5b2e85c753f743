# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import fio_rate, read_json, session_verdict


def session(folder, name):
    """The verdict on the server that had most calls in a session."""
    if name not in (folder / "setups").read_text().split():
        raise Skip("not among the set-ups of this run")
    return session_verdict(folder / f"{name}.json")


def expect(folder, name, bound, *confidences):
    verdict = session(folder, name)
    said = f"{verdict['bound_by']}, {verdict['confidence']}: {verdict['sentence']}"
    need(verdict["bound_by"] == bound, name, "is not", bound, "but", said)
    need(not confidences or verdict["confidence"] in confidences, name, "is", said)
    return verdict


def sentence(verdict):
    return f"{verdict['confidence']}: {verdict['sentence']}"


def is_by_btf(folder, name):
    return read_json(folder / f"{name}.json")["source"] == "btf"


def by_btf(folder, name):
    if name in (folder / "setups").read_text().split() and not is_by_btf(folder, name):
        raise Skip("only source btf shows how many calls are in flight as one ends, and TCP's figures")


def on_disk(folder):
    if (folder / "disk").exists() and (folder / "disk").read_text().strip() == "none":
        raise Skip("the kernel has no slow disk (null_blk)")


def measured_gain(folder, name):
    after, before = (fio_rate(folder / f"{name}-{when}.fio.json") for when in ("after", "before"))
    return after / before


def within_bracket(folder, name, verdict):
    """The measured gain of the proposed value is at most what is possible, and not far from what is expected. Two
    measurements of the same are within 5 % of each other."""
    gain = measured_gain(folder, name)
    expected, most = verdict["gain_expected"], verdict["gain_at_most"]
    need(max(0.95, expected / 1.3) <= gain <= 1.05 * most, "measured", gain,
         "predicted", expected, most, verdict["value"], verdict["sentence"])
    change = f"{verdict['setting']}={verdict['value']}" if verdict["setting"] else "more slots"
    return f"{change}: expected {expected:.2f}, at most {most:.2f}, measured {gain:.2f}"


def predicted(folder, name, bound, setting):
    """Likewise, and the bracket is narrow."""
    by_btf(folder, name)
    verdict = expect(folder, name, bound, "high", "medium")
    need(verdict["setting"] == setting and verdict["remount"], verdict)
    need(verdict["gain_at_most"] <= 1.2 * verdict["gain_expected"], "the bracket is wide:", verdict)
    return within_bracket(folder, name, verdict)


@judgement
def slots_that_bind_gain_what_is_predicted(folder):
    return predicted(folder, "slot", "slot", "sunrpc.tcp_max_slot_table_entries")


@judgement
def session_slots_that_bind_gain_what_is_predicted(folder):
    return predicted(folder, "session", "session", "nfs.max_session_slots")


@judgement
def without_variation_it_does_not_decide(folder):
    verdict = expect(folder, "undecided", "slot")
    if not verdict["numbers"]["low"]["calls"]:  # at the load's begin or end it may vary
        need(verdict["confidence"] == "low" and not verdict["gain_expected"], verdict)
        need("cannot be decided" in verdict["sentence"], verdict)
    if not is_by_btf(folder, "undecided"):  # proposes no value
        return sentence(verdict)
    return within_bracket(folder, "undecided", verdict)


@judgement
def answers_one_after_the_other_behind_few_slots_are_the_server(folder):
    on_disk(folder)
    by_btf(folder, "serial")
    verdict = expect(folder, "serial", "server", "high", "medium")
    return f"{verdict['sentence']} {within_bracket(folder, 'serial', verdict)}"


@judgement
def a_slow_link_is_send(folder):
    verdict = expect(folder, "send", "send")
    need(verdict["setting"] == "nconnect", "no advice")
    (server,) = read_json(folder / "send.json")["servers"]
    seconds = sum(transport["saturated_seconds"]["send"] for transport in server["transports"])
    need(seconds > 3.2, "of 4 s of load saturated", seconds)  # at its end the queue drains
    return sentence(verdict)


@judgement
def slots_are_those_of_the_mount_that_waits(folder):
    by_btf(folder, "mixed")
    verdict = expect(folder, "mixed", "slot")
    slots = verdict["numbers"]["slots"]
    need(f"All {slots} RPC slots" in verdict["sentence"] and slots < 100, verdict["sentence"])
    need(int(verdict["value"]) > slots, verdict["value"])
    return sentence(verdict)


@judgement
def a_full_receive_window_is_the_network(folder):
    by_btf(folder, "window")
    verdict = expect(folder, "window", "network", "medium")
    need(verdict["setting"] == "net.ipv4.tcp_rmem[2]", verdict)
    return f"{verdict['sentence']} {within_bracket(folder, 'window', verdict)}"


@judgement
def a_slow_disk_is_the_server(folder):
    on_disk(folder)
    return sentence(expect(folder, "storage", "server"))


@judgement
def as_many_workers_as_slots_are_not_certain(folder):
    on_disk(folder)
    by_btf(folder, "workers")
    verdict = session(folder, "workers")
    need(verdict["bound_by"] == "server" or verdict["confidence"] != "high", verdict)
    gain = measured_gain(folder, "workers")
    need(gain <= 1.05 * verdict["gain_at_most"], verdict)
    return f"{verdict['bound_by']}, {sentence(verdict)} measured {gain:.2f}"


@judgement
def slots_raised_since_the_mount_need_a_mount(folder):
    by_btf(folder, "changed")
    verdict = expect(folder, "changed", "slot")
    need("entries is 64: mount again" in verdict["sentence"] and not verdict["setting"], verdict)
    return sentence(verdict)


def bound_by(title, name, bound, *confidences, typed=False):
    @judgement
    def check(folder):
        if typed:
            by_btf(folder, name)
        return sentence(expect(folder, name, bound, *confidences))
    check.__name__ = title


bound_by("a link at its rate is the network", "link", "network", "medium", typed=True)
bound_by("with small replies as well", "narrow", "network", "medium", typed=True)
bound_by("a link at its rate whose socket has room is the network", "push", "network", "medium", typed=True)
bound_by("a server far away is latency", "server", "latency", typed=True)
bound_by("a network that loses packets is resend", "resend", "resend", typed=True)
bound_by("one small request after the other over a long way is latency", "application", "latency", typed=True)
bound_by("a buffered reader is limited by readahead", "readahead", "readahead", "medium")
bound_by("a client without cpu is client cpu", "client_cpu", "client_cpu")
bound_by("a stopped server hangs", "hung", "hung", "high")
bound_by("a silent server hangs for a soft mount", "soft", "hung", typed=True)
