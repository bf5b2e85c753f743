# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import read_json


@judgement
def a_stall_that_ends_at_another_address_says_so(folder):
    session = read_json(folder / "moved.json")
    [server] = session["servers"]
    if not any(t["remote"] for t in server["transports"]):
        raise Skip("this kernel does not show the addresses of connections")
    sentence = session["headline"]
    need(" did not answer for " in sentence, sentence)
    need(", until the client had connected to 10.0.9.3" in sentence, sentence)
    return sentence


@judgement
def one_of_some_seconds_as_well(folder):
    session = read_json(folder / "short.json")
    [server] = session["servers"]
    if not any(t["remote"] for t in server["transports"]):
        raise Skip("this kernel does not show the addresses of connections")
    sentence = session["headline"]
    need(" did not answer for " in sentence, session)
    need(", until the client had connected to 10.0.9.1" in sentence, sentence)
    need(server["verdict"]["bound_by"] != "resend", server["verdict"])
    return sentence


@judgement
def what_follows_a_restart_belongs_to_it(folder):
    session = read_json(folder / "restart.json")
    [server] = session["servers"]
    need(", until the client had made itself known anew: " in session["headline"], session["headline"])
    need(server["verdict"]["bound_by"] not in ("resend", "delay"), server["verdict"])
    return session["headline"]
