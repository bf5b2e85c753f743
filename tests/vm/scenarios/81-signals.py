# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need


@judgement
def signals_and_durations_do_what_they_should(folder):
    need("# EOF" not in (folder / "prometheus.txt").read_text(), "that is OpenMetrics")
