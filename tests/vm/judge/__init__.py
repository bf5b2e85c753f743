# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Judges what the scenarios of one guest have left behind; __main__.py says how it is run.

What the agent wrote is compared with mountstats, with fio's report and with what the scenario did. The judgements
stand beside the scenarios: those of scenarios/30-slot.sh in scenarios/30-slot.py.
"""


class Failure(Exception):
    """What was to be proved is not so."""


class Skip(Exception):
    """What was to be tested is missing on this kernel."""


def need(condition, *what):
    if not condition:
        raise Failure(" ".join(str(w) for w in what))


JUDGEMENTS = []


def judgement(function):
    """One test: gets the scenario's folder, raises Failure or Skip, may return a note. Its name is printed."""
    JUDGEMENTS.append(function)
    return function
