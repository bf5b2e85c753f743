# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics
from judge.truths import compare_with_mountstats, has_all_families


@judgement
def udp_counts_equal_mountstats(folder):
    compare_with_mountstats(folder, "before", "after")
    after = Metrics(folder / "after.prom")
    need(not has_all_families(after) or "udp/0" in after.values("rpc_slots", "transport"), "no udp/0")
