# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import Skip, judgement, need
from judge.reading import events, read_json


def is_named(folder, name, error, meaning, message):
    if not (folder / f"{name}.json").exists():
        raise Skip("this kernel's tmpfs has no quotas")
    failed = (folder / f"{name}.dd").read_text().count(message)
    need(failed == 6, (folder / f"{name}.dd").read_text())
    first = read_json(folder / f"{name}.json")["findings"][0]
    said = [first["text"]]
    said += [f["reason"] for f in read_json(folder / f"{name}.check")["findings"] if f["rule"] == "nfs_errors"]
    said += [e["text"] for e in events(folder / "events.json") if e["kind"] == "nfs_errors" and error in e["text"]]
    need(first["level"] == "critical" and len(said) >= 3, first, *said)
    for text in said[0], said[1], said[-1]:
        need(f"WRITEs to /mnt/{name} end with {error}, data were not written" in text and meaning in text, text)
    return first["text"]


@judgement
def a_file_that_is_too_large_is_named(folder):
    return is_named(folder, "large", "EFBIG", "larger than the server allows", "File too large")


@judgement
def a_quota_that_is_used_up_is_named(folder):
    return is_named(folder, "quota", "EDQUOT", "a quota on the server is used up", "Disk quota exceeded")
