# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement
from judge.truths import waits_for_server


@judgement
def a_silent_server_shows_and_nothing_is_lost(folder):
    return waits_for_server(folder)
