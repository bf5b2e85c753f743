# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops, preemptible
from judge.reading import Metrics, mountstats_all
from judge.truths import compare_with_mountstats


@judgement
def types_from_a_file_are_exact_on_this_kernel(folder):
    after = Metrics(folder / "after.prom")
    need(after.get("rpc_source", source="btf") == 1, "not in source btf")
    ours = compare_with_mountstats(folder, "before", "after", mountstats_all)
    if not preemptible(after):
        check_no_drops(after)
    return f"{ours.get('rpc_seconds_count')} calls"
