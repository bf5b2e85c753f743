# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need


@judgement
def run_writes_nothing_but_regular_files_with_one_link(folder):
    need((folder / "victim").read_text() == "precious\n", "another's file is written")
