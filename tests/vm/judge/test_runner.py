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

    def scenario(self, body="return 'a note'", **left):
        """A scenario whose judgement is BODY, None for none, and which has left these files in its folder."""
        (self.scripts / "30-slot.sh").touch()
        if body is not None:
            (self.scripts / "30-slot.py").write_text(body and JUDGEMENT.format("a_b", body))
        if left:
            (self.out / "slot").mkdir()
        for name, text in left.items():
            (self.out / "slot" / name).write_text(text)

    def judged(self, name="slot"):
        return list(judge_scenario(self.scripts, name, self.out / name, "6.1"))

    def fails(self, words, name="slot"):
        lines = self.judged(name)
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith(f"FAIL 6.1: scenario {name}: "), lines)
        self.assertIn(words, lines[0])
        self.assertNotIn("\n", lines[0])

    def test_passed(self):
        self.scenario(status="0\n", finished="")
        self.assertEqual(self.judged(), ["ok 6.1: a b (a note)"])

    def test_without_a_judgement_the_script_has_to_reach_its_end(self):
        self.scenario(None, status="0\n", finished="")
        self.assertEqual(self.judged(), ["ok 6.1: the checks of slot hold"])

    def test_skipped_by_the_scenario(self):
        self.scenario(status="0\n", skip="no UDP\n")
        self.assertEqual(self.judged(), ["skip 6.1: a b: no UDP"])

    def test_skipped_by_the_judgement(self):
        self.scenario("raise Skip('no writes')", status="0\n", finished="")
        self.assertEqual(self.judged(), ["skip 6.1: a b: no writes"])

    def test_failed(self):
        self.scenario("need(1 == 2, 1, 'is not', 2)", status="0\n", finished="")
        self.assertEqual(self.judged(), ["FAIL 6.1: a b\n    1 is not 2"])

    def test_a_judgement_that_breaks_fails(self):
        self.scenario("return [][1]", status="0\n", finished="")
        self.assertEqual(self.judged(), ["FAIL 6.1: a b\n    IndexError: list index out of range"])

    def test_a_scenario_that_did_not_run_to_its_end_or_has_no_judgement(self):
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
                self.scenario(body, **left)
                self.fails(words)

    def test_unknown_name(self):
        self.fails("there is no such scenario", "slto")


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
