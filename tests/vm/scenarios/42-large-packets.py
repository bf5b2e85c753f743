# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import read_json


@judgement
def lost_large_packets_are_named_in_both_directions(folder):
    for direction in ("server", "tunnel"):
        session = read_json(folder / f"at-{direction}.json")
        if session["source"] != "btf":
            raise Skip("this source does not see TCP")
        [server] = session["servers"]
        need(server["verdict"]["bound_by"] == "hung", server["verdict"])
        need("the likely reason is the MTU" in session["headline"], session["headline"])
        need(server["transports"][0]["in_flight"] >= 1, server["transports"])
    return session["headline"]
