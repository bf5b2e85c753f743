# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import events, read_json


@judgement
def connecting_that_fails_is_named_with_its_error(folder):
    session = read_json(folder / "lost.json")
    if session["source"] != "btf":
        raise Skip("this source does not see why connecting fails")
    [server] = session["servers"]
    need(server["verdict"]["bound_by"] == "hung", server["verdict"])
    need("connecting fails (No route to host)" in session["headline"], session["headline"])
    return session["headline"]


@judgement
def nothing_is_saturated_without_a_connection(folder):
    kinds = [event["kind"] for event in events(folder / "events.json")]
    need("nfs_saturation" not in kinds and "nfs_stall" in kinds, kinds)
    return "none"
