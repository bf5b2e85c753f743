# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import read_json


def moved_to(path, address):
    """The server of a session, and the headline, which must name a stall that ended at this address."""
    session = read_json(path)
    [server] = session["servers"]
    if not any(t["remote"] for t in server["transports"]):
        raise Skip("this kernel does not show the addresses of connections")
    sentence = session["headline"]
    need(" did not answer for " in sentence, sentence)
    need(f", until the client had connected to {address}" in sentence, sentence)
    return server, sentence


@judgement
def a_stall_that_ends_at_another_address_says_so(folder):
    _, sentence = moved_to(folder / "moved.json", "10.0.9.3")
    return sentence


@judgement
def one_of_some_seconds_as_well(folder):
    server, sentence = moved_to(folder / "short.json", "10.0.9.1")
    need(server["verdict"]["bound_by"] != "resend", server["verdict"])
    return sentence


@judgement
def what_follows_a_restart_belongs_to_it(folder):
    session = read_json(folder / "restart.json")
    [server] = session["servers"]
    need(", until the client had registered again: " in session["headline"], session["headline"])
    need(server["verdict"]["bound_by"] not in ("resend", "delay"), server["verdict"])
    return session["headline"]
