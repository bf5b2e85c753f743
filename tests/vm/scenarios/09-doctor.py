# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import json

from judge import judgement, need


@judgement
def doctor_reports_what_the_kernel_has(folder):
    report = json.loads((folder / "doctor.json").read_text())
    need(report["source"] == "none" and report["healthy"] is True, report)
    levels = {finding["level"] for finding in report["findings"]}
    need(levels <= {"ok", "note", "unknown"}, levels)
