# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need


@judgement
def a_scenario_that_fails_leaves_nothing_behind(folder):
    states = [(path / "state").read_text().split("\n")
              for path in (folder, folder / "nested/out/breaks", folder / "nested/out/looks")]
    before, broken, after = states
    need((folder / "nested/out/breaks/status").read_text() == "1\n", "the first did not fail, or its clean-up did")
    need(broken[:4] == ["4", "4", "4", "8"] and len(broken) >= len(before) + 3, "it changed too little:", broken)
    need(before == after, "before it:", before, "after it:", after)
