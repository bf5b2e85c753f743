# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that a scenario that did not run to its end, or has no judgement, fails with one clear line."""
import sys
import tempfile
import unittest
from pathlib import Path

from judge.runner import judge_scenario, judgements

JUDGEMENT = """
from judge import Skip, judgement, need
@judgement
def {0}(folder):
    {1}
"""


class Runner(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.scripts, self.out = Path(temporary.name) / "scripts", Path(temporary.name) / "out"
        self.scripts.mkdir()
        self.out.mkdir()

    def judged(self, body, left):
        """The lines of a scenario whose judgement is BODY, None for none, and which has left these files."""
        (self.scripts / "30-slot.sh").touch()
        if body is not None:
            (self.scripts / "30-slot.py").write_text(body and JUDGEMENT.format("a_b", body))
        if left:
            (self.out / "slot").mkdir()
        for name, text in left.items():
            (self.out / "slot" / name).write_text(text)
        return list(judge_scenario(self.scripts, "slot", self.out / "slot", "6.1"))

    def test_that_ran_to_its_end(self):
        ended = {"status": "0\n", "finished": ""}
        for line, body, left in (
                ("ok 6.1: a b (a note)", "return 'a note'", ended),
                ("ok 6.1: the checks of slot hold", None, ended),
                ("skip 6.1: a b: no UDP", "pass", {"status": "0\n", "skip": "no UDP\n"}),
                ("skip 6.1: a b: no writes", "raise Skip('no writes')", ended),
                ("FAIL 6.1: a b\n    1 is not 2", "need(1 == 2, 1, 'is not', 2)", ended),
                ("FAIL 6.1: a b\n    IndexError: list index out of range", "return [][1]", ended)):
            with self.subTest(line):
                self.setUp()
                self.assertEqual(self.judged(body, left), [line])

    def fails(self, words, name, lines):
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], f"^FAIL 6.1: scenario {name}: .*{words}")
        self.assertNotIn("\n", lines[0])

    def test_that_did_not_run_to_its_end_or_has_no_judgement(self):
        for words, body, left in (
                ("did not run", "pass", {}),
                ("wrote no status", "pass", {"log": ""}),
                ("failed with status 1: see ", None, {"status": "1\n", "log": ""}),
                ("failed with status 0, and its clean-up failed", "pass",
                 {"status": "0, and its clean-up failed\n", "finished": ""}),
                ("exited before its last line", None, {"status": "0\n"}),
                ("has no judgement", "", {}),
                ("never closed", "return (", {"status": "0\n", "finished": ""})):
            with self.subTest(words):
                self.setUp()
                self.fails(words, "slot", self.judged(body, left))

    def test_unknown_name(self):
        self.fails("there is no such scenario", "slto", list(judge_scenario(self.scripts, "slto", self.out, "6.1")))


def missing():
    """A line for each scenario whose judgement is empty or cannot be read."""
    for folder in ("scenarios", "transports"):
        scripts = Path(__file__).parents[1] / folder
        for script in sorted(scripts.glob("*-*.sh")):
            try:
                judgements(scripts, script.stem.split("-", 1)[1])
            except Exception as error:  # pylint: disable=broad-except # whatever it is
                yield f"scenario {script.stem}: {error}"


sys.exit("\n".join(missing()) or unittest.main())
