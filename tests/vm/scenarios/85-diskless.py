# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need


@judgement
def acknowledgements_that_cannot_be_read_hold_nothing_up(folder):
    took = {name: int(ms) for name, ms in (line.split() for line in (folder / "milliseconds").read_text().splitlines())}
    need(len(took) == 16, took)
    need(all(ms < 5000 for name, ms in took.items() if not name.endswith("start")), took)
    # It waits for some seconds; a machine that is busy with others starts it more slowly.
    need(all(took[f"{on}-start"] < 2 * took[f"{on}-first-start"] + 30000 for on in ("overlay", "disk")), took)
    return took
