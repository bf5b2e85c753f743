# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that a scenario that did not run to its end, or has no judgement, fails with one clear line."""
import re
import sys
import tempfile
from pathlib import Path

from judge.runner import judge_scenario, judgements

JUDGEMENT = """
from judge import Skip, judgement, need
@judgement
def a_b(folder):
    {}
"""
ENDED = {"status": "0\n", "finished": ""}
BROKEN = "FAIL 6.1: scenario slot: .*"
# The pattern of the only line; the judgement's body, None for none; the files that the scenario has left.
CASES = (
    (r"ok 6.1: a b \(a note\)", "return 'a note'", ENDED),
    ("ok 6.1: the checks of slot hold", None, ENDED),
    ("skip 6.1: a b: no UDP", "pass", {"status": "0\n", "skip": "no UDP\n"}),
    ("skip 6.1: a b: no writes", "raise Skip('no writes')", ENDED),
    ("FAIL 6.1: a b\n    1 is not 2", "need(1 == 2, 1, 'is not', 2)", ENDED),
    ("FAIL 6.1: a b\n    IndexError: list index out of range", "return [][1]", ENDED),
    (BROKEN + "did not run", "pass", {}),
    (BROKEN + "wrote no status.*", "pass", {"log": ""}),
    (BROKEN + "failed with status 1: see .*", None, {"status": "1\n"}),
    (BROKEN + "failed with status 0, and its clean-up failed.*", "pass",
     ENDED | {"status": "0, and its clean-up failed\n"}),
    (BROKEN + "exited before its last line.*", None, {"status": "0\n"}),
    (BROKEN + "has no judgement.*", "", ENDED),
    (BROKEN + "never closed.*", "return (", ENDED))


def judged(folder, body, left):
    scripts, out = folder / "scripts", folder / "out"
    scripts.mkdir()
    (scripts / "30-slot.sh").touch()
    if body is not None:
        (scripts / "30-slot.py").write_text(body and JUDGEMENT.format(body))
    for name, text in left.items():
        out.mkdir(exist_ok=True)
        (out / name).write_text(text)
    return list(judge_scenario(scripts, "slot", out, "6.1"))


def wrong():
    """A line for each case that is judged otherwise."""
    for pattern, body, left in CASES:
        with tempfile.TemporaryDirectory() as folder:
            lines = judged(Path(folder), body, left)
            if len(lines) != 1 or not re.fullmatch(pattern, lines[0]):
                yield f"{pattern} is wanted: {lines}"


def missing():
    """A line for each scenario whose judgement is empty or cannot be read."""
    for folder in ("scenarios", "transports"):
        scripts = Path(__file__).parents[1] / folder
        for script in sorted(scripts.glob("*-*.sh")):
            try:
                judgements(scripts, script.stem.split("-", 1)[1])
            except Exception as error:  # pylint: disable=broad-except # whatever it is
                yield f"scenario {script.stem}: {error}"


sys.exit("\n".join([*missing(), *wrong()]) or 0)
