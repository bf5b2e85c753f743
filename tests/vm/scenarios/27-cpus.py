# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_additive, check_no_drops, check_replies
from judge.reading import Metrics
from judge.truths import compare_with_mountstats, has_all_families


@judgement
def each_call_counts_once_while_cpus_go_off_and_on(folder):
    cpus = int((folder / "cpus").read_text())
    need(cpus > 1, "the guest has one CPU")
    done = []
    for version in ("3", "4.2"):
        ours = compare_with_mountstats(folder, f"{version}-before", f"{version}-after")
        after = Metrics(folder / f"{version}-after.prom")
        check_additive(after)
        check_no_drops(after)
        if has_all_families(after):
            check_replies(ours)
        done.append(f"v{version}: {ours.get('rpc_op_calls_total')} calls")
    return f"{cpus} CPUs, of which each but one went off; " + "; ".join(done)
