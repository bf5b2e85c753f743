# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics


@judgement
def output_errors_are_recovered_from(folder):
    need(Metrics(folder / "healed.prom").get("export_errors_total") >= 3, "uncounted")
