# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import counts
from judge.reading import between

END_MS = 15000  # in an emulated machine whose CPUs are all busy


@judgement
def a_fault_counts_while_the_flood_goes_on(folder):
    ours = between(folder, "begin", "flood")
    need(counts(ours) == {("0000:c1:00.0", 79): 1}, counts(ours))
    lost = ours.get("kernel_log_lost_records_total")
    need(lost > 0, "the agent reads as fast as users print")
    return f"{lost} records lost, ms: {(folder / 'milliseconds').read_text().split()}"


@judgement
def the_agent_ends_while_the_flood_goes_on(folder):
    times = dict(line.split() for line in (folder / "milliseconds").read_text().splitlines())
    need(int(times["end"]) < END_MS, times)
