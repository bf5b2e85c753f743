# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import read_json


@judgement
def doctor_reports_what_the_kernel_has(folder):
    report = read_json(folder / "doctor.json")
    need(report["source"] == "none" and report["healthy"] is True, report)
    levels = {finding["level"] for finding in report["findings"]}
    need(levels <= {"ok", "note", "unknown"}, levels)
