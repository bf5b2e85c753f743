#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves the layout of the sources, a line for each mistake.

Every #include goes in an allowed direction, by the table below; no room of user/ has more units (a .c with its .h)
than it may; few headers have a single includer beside their own .c; no function is too long or has more than six
parameters; no static function has a bare verb as its name; each member of a snapshot's parts has a row or a table; each
counter is set in a room that observes.

A limit on a size is a tenth above what was there when it was set. Its message says what to do when a change meets it.
"""
import re
import sys
from pathlib import Path

# What a folder of user/ may include besides itself, include/ and what is generated.
ROOMS = {
    "base": "",
    "snapshot": "base",
    "kernel": "base",
    "xid": "base",
    "owners": "base snapshot kernel",
    "rpc": "base snapshot kernel owners",
    "nfs": "base snapshot kernel",
    "faults": "base snapshot kernel xid",
    "limits": "base snapshot",
    "session": "base snapshot limits",
    "past": "base snapshot xid",
    "sinks": "base snapshot xid limits session",
    "health": "base snapshot xid sinks",
    "writer": "base kernel",
    "commands": "base snapshot kernel xid owners rpc nfs faults limits session past sinks health writer",
}
UNITS = {"commands": 24, "base": 23}  # others: 22
SINGLE_INCLUDERS = 10
FUNCTION_LINES = 66
PARAMETERS = 6
OBSERVERS = "rpc nfs faults owners limits".split()
BARE_VERBS = "add begin end find forget get look note put say set take tell".split()
OR_RAISE = "or raise the limit in tests/includes.py and give the reason in the commit"
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)', re.M)
HEAD = re.compile(r"^[a-z][\w \t*]*?\b(\w+)\(((?:[^(){};]|\([^(){};]*\))*)\)\s*\n\{", re.M)
COUNTER = re.compile(r"(?:FIELD\((?!program_run)\w+, (?:\w+_)?COUNTER, [^,]+, |FIELD_PART\(\w+, COUNTER, \w+\.|"
                     r"^\t(?:COUNT|SHOWN)\()(\w+)", re.M)
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


def crowded(top):
    """The rooms with more units than they may have."""
    for room in ROOMS:
        units = {str(path.with_suffix("")) for path in (top / "user" / room).glob("**/*.[ch]")}
        most = UNITS.get(room, 22)
        if len(units) > most:
            yield (f"user/{room} has {len(units)} units, at most {most}: "
                   f"join two, or give the room's second subject its own; {OR_RAISE}")


def lonely(top):
    """The headers that one file alone includes, beside their own .c, if there are too many."""
    includers = {}
    for path in (top / "user").glob("**/*.[ch]"):
        file = str(path.relative_to(top / "user"))
        for _, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if file != target[:-1] + "c":
                includers.setdefault(target, set()).add(file)
    headers = [str(path.relative_to(top / "user")) for path in (top / "user").glob("**/*.h")]
    found = sorted(header for header in headers if len(includers.get(header, ())) < 2)
    if len(found) > SINGLE_INCLUDERS:
        yield (f"{len(found)} headers have a single includer, at most {SINGLE_INCLUDERS}: {' '.join(found)}: "
               f"move one's contents into its includer; {OR_RAISE}")


def long_functions(top):
    """The functions with too many lines, counted from the first line of the head to the closing brace."""
    for path in sorted([*(top / "user").glob("**/*.[ch]"), *(top / "bpf").glob("*.[ch]")]):
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines):
            if line != "{":
                continue
            head = number
            while head and re.match(r"[\w\s].*[^;}]$", lines[head - 1]) and not lines[head - 1].startswith(" *"):
                head -= 1
            length = lines.index("}", number) - head + 1
            if length > FUNCTION_LINES:
                yield (f"{path.relative_to(top)}:{head + 1}: a function of {length} lines, at most {FUNCTION_LINES}: "
                       f"split it by what it does; {OR_RAISE}")


def sources(top):
    """The C files of both sides, without comments."""
    for path in sorted([*(top / "user").glob("**/*.[ch]"), *(top / "bpf").glob("*.[ch]")]):
        yield path.relative_to(top), re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)


def long_lists(top):
    """The functions with too many parameters."""
    for path, text in sources(top):
        for name, parameters in HEAD.findall(text):
            count = len(re.sub(r"\([^()]*\)", "", parameters).split(","))
            if count > PARAMETERS:
                yield f"{path}: {name}() has {count} parameters, at most {PARAMETERS}: make some of them a struct"


def nameless(top):
    """The static functions with a name that many files would have."""
    for path, text in sources(top):
        for name in re.findall(r"^static [^;=\n]*?\b(\w+)\(", text, re.M):
            if name in BARE_VERBS:
                yield f"{path}: {name}() needs a noun: of what?"


def rowless(top):
    """The members of a snapshot's parts that have neither a row in table.c nor a table."""
    rows = (top / "user/snapshot/table.c").read_text(encoding="utf-8")
    tables = (top / "user/snapshot/tables.tsv").read_text(encoding="utf-8")
    known = set(re.findall(r"snapshot, [A-Z_]+, (?:\w+\.)?(\w+)", rows)) | {"calls", "faults", "self"}
    known |= {name for pair in re.findall(r"\t(?:CALLS|FAULTS|SELF)\t\w+\t(\w+)\t(\w+)", tables) for name in pair}
    for path in sorted((top / "user/snapshot").glob("*.h")):
        text = re.sub(r".*; /\*.*not recorded \*/\n", "", path.read_text(encoding="utf-8"))
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for body in re.findall(r"^struct (?:calls|fault_counts|self|snapshot) \{\n(.*?)^\};", text, re.S | re.M):
            for member in set(re.findall(r"(\w+)(?:\s*\[[^;,]*\])?\s*[;,]", body)) - known:
                yield f"user/snapshot/{path.name}: {member} has no row in user/snapshot/table.c"


def uncounted(top):
    """The counters that no room of those which observe counts; of those in include/, no BPF program."""
    def counted(paths):
        return set(re.findall(r"(?:->|\.)(\w+)", "".join(path.read_text(encoding="utf-8") for path in paths)))
    user = counted(path for room in OBSERVERS for path in (top / "user" / room).glob("**/*.c"))
    bpf = counted((top / "bpf").glob("*.bpf.[ch]"))
    snapshot = top / "user/snapshot"
    for path in sorted([*snapshot.glob("*_fields.h"), snapshot / "calls.h", top / "include/rpc.h"]):
        for member in COUNTER.findall(path.read_text(encoding="utf-8")):
            if member not in (bpf if path.parent.name == "include" else user):
                yield f"{path.relative_to(top)}: {member} is counted in none of {', '.join(OBSERVERS)}, bpf"


def blind(top):
    """The patterns above that match too little to prove anything."""
    texts = "".join(path.read_text(encoding="utf-8") for path in (top / "user").glob("**/*.[ch]"))
    for what, pattern, least in (("includes", INCLUDE, 800), ("functions", HEAD, 1500), ("counters", COUNTER, 30)):
        count = len(pattern.findall(texts))
        if count < least:
            yield f"includes.py finds {count} {what} in user/: too few"


def main():
    top = Path(__file__).parents[1]
    checks = problems, crowded, lonely, long_functions, long_lists, nameless, rowless, uncounted, blind
    found = [line for check in checks for line in check(top)]
    good = "each include goes in an allowed direction, rooms and functions are small, fields have rows"
    print("\n".join(found) or good)
    return bool(found)


sys.exit(main())
