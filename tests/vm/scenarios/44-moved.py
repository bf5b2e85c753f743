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
