# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.reading import mountstats_all, read_json


def parts(row):
    """Its figures, also of each kind."""
    rows = {"": row} | row["kinds"]
    return {(kind, name): value[name] for kind, value in rows.items()
            for name in ("calls", "seconds", "sent_bytes", "received_bytes", "errors") if name in value}


def add_up(both, rows, labels):
    """The owners of a mount are the mount, the mounts of an owner are the owner."""
    for row in rows:
        sums = {}
        for part in both:
            if all(part[label] == row[label] for label in labels):
                for key, value in parts(part).items():
                    sums[key] = sums.get(key, 0) + value
        wanted = parts(row)
        need(sums.keys() == wanted.keys() and all(abs(sums[key] - wanted[key]) < 1e-6 for key in wanted), row, sums)


@judgement
def owners_on_mounts_have_what_was_done(folder):
    session = read_json(folder / "same.json")
    servers = {s["name"]: s for s in session["servers"]}
    both = servers["127.0.0.1"]["owner_mount_calls"]
    for server in servers.values():
        add_up(server["owner_mount_calls"], server["mount_calls"], ("export", "mountpoint"))
        add_up(server["owner_mount_calls"], server["owner_calls"], ("owner",))
    for owner, mount, kind, calls, size in (("slurm:4711", "/mnt/top", "read", 900, 4096),
                                            ("slurm:4711", "/mnt/second", "write", 50, 1 << 16),
                                            ("slurm:4712", "/mnt/second", "read", 30, 1 << 16),
                                            ("unit:plain.service", "/mnt/top", "read", 300, 4096)):
        (row,) = (b for b in both if b["owner"] == owner and b["mountpoint"] == mount)
        got = row["kinds"][kind]
        need(got["calls"] == calls, row)
        moved = got.get("received_bytes" if kind == "read" else "sent_bytes")
        need(moved is None and session["source"] != "btf" or 0 <= moved - calls * size <= 400 * calls, row)
    need(not any(b["owner"] == "slurm:4712" and b["mountpoint"] != "/mnt/second" for b in both), both)
    theirs = [sum(op["ops"] for name, op in mountstats_all(folder / f"{when}.mountstats").items())
              for when in ("before", "after")]
    calls = sum(b["calls"] for s in servers.values() for b in s["owner_mount_calls"])
    need(calls == theirs[1] - theirs[0], calls, "calls; mountstats has", theirs)
    text = (folder / "same.txt").read_text()
    table = re.search(r"\nCalls of each owner on each mount of 127\.0\.0\.1, .*\n(?s:(.*?))\n\n", text)
    need(table and max(map(len, table[0].split("\n"))) <= 80, text[-3000:])
    need(re.search(r"^slurm:4711, /mnt/second +5\d +3\.3 ", table[1], re.M) or session["source"] != "btf", table[1])
    return f"{calls} calls"


@judgement
def top_without_a_server_says_so(folder):
    none = (folder / "none.txt").read_text()
    need("0 of 0 rows" in none and " answered" not in none, none)


@judgement
def a_call_that_hangs_is_named(folder):
    top, text = (folder / "hung.top").read_text(), (folder / "hung.txt").read_text()
    need(re.search(r"^/mnt/top 127\.0\.0\.1:\S+ .* [\d.]+ s$", top, re.M), top)
    first = text.split("\nSummary\n")[1].split("\n")[0]
    call = rf"; oldest call: [A-Z]+ of dd {(folder / 'reader').read_text().strip()}, "
    # The session begins after the call: trace events do not show who made it.
    early = call if read_json(folder / "hung.json")["source"] == "btf" else r"; oldest call: [A-Z]+\)"
    need(re.match(rf"- 127\.0\.0\.1 does not answer for .*\(/mnt/\w+.*{early}", first), first)
    for name in ("hung.txt", "check.txt", "why.txt", "events.log"):
        text = (folder / name).read_text()
        need(re.search(early if name == "hung.txt" else call, text.replace("\n         ", " ")), name, text[-2000:])
    return first
