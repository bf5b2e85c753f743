# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import Skip, judgement
from judge.truths import saturates


@judgement
def four_session_slots_saturate_and_64_do_not(folder):
    # The kernel's own figure: most RPC slots that were in use at once.
    fields = re.search(r"xprt:\ttcp (.*)", (folder / "4-after.mountstats").read_text())
    used = int(fields[1].split()[10])
    if used > 12:
        raise Skip(f"here a session with nfs.max_session_slots=4 grows: {used} calls at once")
    # If it grows by only a few, that many fewer of the 32 requests wait at the end.
    return saturates(folder, "session", 4, 64, 32 - 4, max(used - 4, 0))
