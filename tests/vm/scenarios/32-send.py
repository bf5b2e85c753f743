# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import dominant, shares
from judge.reading import runtime
from judge.truths import compare_with_mountstats


@judgement
def a_slow_link_shows_as_send(folder):
    ours = compare_with_mountstats(folder, "before", "after")
    seconds = runtime(folder / "fio.json")
    saturated = float(ours.get("rpc_saturated_seconds_total", limit="send"))
    need(dominant(ours) == "send", "dominant is", dominant(ours), shares(ours))
    # At the end fio submits nothing more, and the queue drains.
    need(saturated > 0.8 * seconds, saturated, "s saturated of", seconds)
    return f"{saturated:.2f} s of {seconds:.2f} s, share {float(shares(ours)['send']):.0%}"
