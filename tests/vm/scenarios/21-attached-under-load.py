# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_additive, check_no_drops
from judge.reading import Metrics


@judgement
def phases_add_up_when_attached_under_load(folder):
    metrics = Metrics(folder / "x.prom")
    need(metrics.get("rpc_op_calls_total") > 100, "saw next to nothing")
    check_additive(metrics)
    check_no_drops(metrics)
