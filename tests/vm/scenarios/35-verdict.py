# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import Skip, judgement, need


def session(folder, name):
    """The verdict on the server that had most calls in a session."""
    servers = json.loads((folder / f"{name}.json").read_text())["servers"]
    need(servers, name, "has no server")
    return max(servers, key=lambda s: s["verdict"]["numbers"]["calls"])["verdict"]


def expect(folder, name, bound, *confidences):
    verdict = session(folder, name)
    said = f"{verdict['bound_by']}, {verdict['confidence']}: {verdict['sentence']}"
    need(verdict["bound_by"] == bound, name, "is not", bound, "but", said)
    need(not confidences or verdict["confidence"] in confidences, name, "is", said)
    return verdict


def source(folder):
    return json.loads((folder / "slot.json").read_text())["source"]


def by_btf(folder):
    if source(folder) != "btf":
        raise Skip("only source btf shows how many calls are in flight as one ends")


def rate(folder, name):
    return json.loads((folder / f"{name}.fio.json").read_text())["jobs"][0]["read"]["iops"]


def predicted(folder, name, bound, setting):
    """The measured gain of the proposed value lies within the bracket, which is narrow."""
    by_btf(folder)
    verdict = expect(folder, name, bound, "high")
    need(verdict["setting"] == setting and verdict["remount"], verdict)
    gain = rate(folder, f"{name}-after") / rate(folder, f"{name}-before")
    least, most = verdict["gain_at_least"], verdict["gain_at_most"]
    need(most <= 1.5 * least, "the bracket is wide:", least, most)
    need(least <= gain <= 1.05 * most, "measured", gain, "predicted", least, most, verdict["value"])
    return f"{setting}={verdict['value']}: predicted {least:.2f} to {most:.2f}, measured {gain:.2f}"


@judgement
def slots_that_bind_gain_what_is_predicted(folder):
    return predicted(folder, "slot", "slot", "sunrpc.tcp_max_slot_table_entries")


@judgement
def session_slots_that_bind_gain_what_is_predicted(folder):
    return predicted(folder, "session", "session", "nfs.max_session_slots")


@judgement
def without_variation_it_does_not_decide(folder):
    verdict = expect(folder, "undecided", "slot", "low")
    need(verdict["gain_at_least"] == 1 and "cannot be decided" in verdict["sentence"], verdict)


@judgement
def a_slow_server_is_the_server(folder):
    expect(folder, "server", "server")


@judgement
def answers_one_after_the_other_behind_few_slots_are_the_server(folder):
    by_btf(folder)
    return expect(folder, "serial", "server", "high")["sentence"]


@judgement
def a_slow_link_is_send(folder):
    need(expect(folder, "send", "send")["setting"] == "nconnect", "no advice")


@judgement
def a_network_that_loses_packets_is_resend(folder):
    by_btf(folder)
    return expect(folder, "resend", "resend")["sentence"]


@judgement
def one_small_read_after_the_other_is_the_application(folder):
    expect(folder, "application", "application")


@judgement
def a_client_without_cpu_is_client_cpu(folder):
    expect(folder, "client_cpu", "client_cpu")


@judgement
def a_stopped_server_hangs(folder):
    expect(folder, "hung", "hung", "high")
