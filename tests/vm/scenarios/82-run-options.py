# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need


@judgement
def options_of_run_and_trace_do_what_they_are_for(folder):
    need((folder / "messages").read_text().startswith('{"time":'), "the last messages are not JSON")
