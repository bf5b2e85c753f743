# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need


@judgement
def trace_names_the_limit(folder):
    report = (folder / "report.txt").read_text()
    lines = re.findall(r"^\d\d:\d\d:\d\d ", report, re.M)
    need(2 <= len(lines) <= 5, len(lines), "lines in 4 seconds")
    need(re.search(r"^127\.0\.0\.1 READ: \d+ calls", report, re.M), "no READ")
    need(re.search(r"^  slot\s+[5-9]\d\.\d %", report, re.M), "slot is not the larger part")
    need("Limit: waiting for RPC slots" in report, "no verdict")
