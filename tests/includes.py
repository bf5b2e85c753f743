#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that every #include goes in an allowed direction, by the table below: includes.py [FOLDER]"""
import re
import sys
from pathlib import Path

# What a folder of user/ may include besides itself, include/ and what is generated.
ROOMS = {
    "base": "",
    "snapshot": "base",
    "kernel": "base",
    "xid": "base",
    "rpc": "base snapshot kernel",
    "faults": "base snapshot kernel xid",
    "limits": "base snapshot",
    "session": "base snapshot limits",
    "past": "base snapshot xid",
    "sinks": "base snapshot xid limits session",
    "health": "base snapshot xid sinks",
    "writer": "base kernel",
    "commands": "base snapshot kernel xid rpc faults limits session past sinks health writer",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)', re.M)
GENERATED = re.compile(r".*\.skel\.h|version\.h|[a-z_]+\.inc")


def problem(top, file, target):
    """Why this file must not include that, or None."""
    folder, _, rest = file.partition("/")
    beside = (top / folder / target).exists()
    if "/" not in target and (top / "include" / target).exists() or folder == "user" and GENERATED.fullmatch(target):
        return None
    if folder == "bpf":
        return None if beside or (top / "vmlinux" / target).exists() else "bpf may include include, vmlinux and its own"
    if folder in ("include", "vmlinux"):
        return None if beside else f"{folder} includes nothing of ours but itself"
    if "/" not in target:
        return "it must be written with its folder"
    room = rest.partition("/")[0] if "/" in rest else "commands"  # main.c may include what they may
    allowed = ROOMS.get(room, "").split()
    if target.partition("/")[0] in (room, *allowed):
        return None if beside else "there is no such file"
    return f"{room} may include {', '.join(allowed) or 'nothing'}"


def problems(top):
    paths = (path for folder in ("user", "bpf", "include", "vmlinux") for path in (top / folder).glob("**/*.[ch]"))
    for path in sorted(paths):
        file = str(path.relative_to(top))
        if file.startswith("user/") and file.split("/")[1] not in (*ROOMS, "main.c"):
            yield f"{file} is in none of user/'s folders: {', '.join(ROOMS)}"
        for bracket, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if bracket == "<" and not (top / "user" / target).exists():
                continue  # of a library
            why = problem(top, file, target)
            if why:
                yield f"{file} includes {target}: {why}"


def main():
    found = list(problems(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])))
    print("\n".join(found) or "each include goes in an allowed direction")
    return bool(found)


sys.exit(main())
