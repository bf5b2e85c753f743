# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.reading import read_json


@judgement
def pasted_lines_lose_no_mount_and_say_what_is_busy(folder):
    [server] = [s for s in read_json(folder / "remedy.json")["servers"] if s["name"].startswith("127.0.0.1")]
    lines = (folder / "paste.sh").read_text().splitlines()
    need(lines and lines == server["commands"], lines, server["commands"], server["verdict"])
    away = "umount /mnt/bound && umount /mnt/late && umount /mnt/tab && umount '/mnt/by hand'"
    need(any(line.startswith(away) for line in lines), lines)
    need(any(" 1 process uses these mounts, " in line and "sleep (" in line for line in lines), lines)
    # mountd's port and protocol are found anew by each mount
    before, busy, free = (re.sub(r",mount(port|proto)=\w+", "", (folder / f"{when}.mounts").read_text())
                          for when in ("before", "busy", "free"))
    need(before.count("\n") == 4 and busy == before, "while a process uses one:", before, busy)
    need("busy" in (folder / "busy.out").read_text(), "it does not say why not")
    need(free == before, "afterwards:", before, free)
    slots = (folder / "slots").read_text()
    need(not slots or f"max_num_slots={server['verdict']['value']}" in slots, server["verdict"], slots)
    return "; ".join(lines)
