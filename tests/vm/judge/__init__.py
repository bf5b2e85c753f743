# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Judges the results of the scenarios of one guest; __main__.py describes how it is run.

What the agent wrote is compared with mountstats, with fio's report and with what the scenario did. The judgements
are beside the scenarios: those of scenarios/30-slot.sh in scenarios/30-slot.py. A script without them checks itself.
"""


class Failure(Exception):
    """The test failed."""


class Skip(Exception):
    """This kernel lacks what the test needs."""


def need(condition, *what):
    if not condition:
        raise Failure(" ".join(str(w) for w in what))


JUDGEMENTS = []


def judgement(function):
    """One test: gets the scenario's folder, raises Failure or Skip, may return a note. Its name is printed."""
    JUDGEMENTS.append(function)
    return function
