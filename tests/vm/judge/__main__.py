# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prints a line that begins with "ok", "FAIL" or "skip" for each test, and details of a failure indented below it.

Usage: python3 -m judge FOLDER KERNEL PROMTOOL SCRIPTS NAME...
FOLDER: what the guest has left. SCRIPTS: the folder of scenarios. NAME: each scenario that had to run.
"""
import sys
from pathlib import Path

from judge import promql
from judge.readers import readers_accept_every_file
from judge.runner import judge_scenario, outcome


def main():
    folder, kernel, promtool, scripts, *names = sys.argv[1:]
    folder = Path(folder)
    promql.promtool = promtool
    for name in names:
        for line in judge_scenario(Path(scripts), name, folder / name, kernel):
            print(line)
    print(outcome("all readers accept every file", lambda all_of: readers_accept_every_file(all_of, promtool),
                  folder, kernel))


main()
