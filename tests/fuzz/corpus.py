#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
r"""The inputs of a fuzzer, in one text file.

corpus.py unpack FILE FOLDER    writes each input to a file of the folder, which is emptied first
corpus.py keep FILE FOLDER      replaces those that the fuzzer has found by what is in the folder and has no name

FILE has a section for each input with a name, "=== NAME", and at the end "=== found", where a line is an input. In
both, a backslash is \\, and \xHH a byte that is no printable ASCII, tab or newline; a backslash at the end of a line
leaves the newline out."""
import re
import shutil
import sys
from hashlib import sha1
from pathlib import Path

HEAD = """# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Inputs of a fuzzer: see ../corpus.py.
"""


def escaped(data):
    text = "".join("\\\\" if b == 0x5c else chr(b) if b in b"\t\n" or 0x20 <= b < 0x7f else f"\\x{b:02x}" for b in data)
    return re.sub("(?m)^=|[ \t]$", lambda m: f"\\x{ord(m[0]):02x}", text)


def bytes_of(text):
    names = {"\\\\": "\\", "\\n": "\n", "\\\n": ""}
    return re.sub(r"\\(\\|n|x(..)|\n)", lambda m: chr(int(m[2], 16)) if m[2] else names[m[0]], text).encode("latin-1")


def read(file):
    """The inputs that have a name, by name, and the others."""
    _, *sections = re.split("(?m)^=== ", Path(file).read_text(encoding="ascii"))
    texts = dict(section.split("\n", 1) for section in sections)
    found = texts.pop("found", "")
    return ({name: bytes_of(text) for name, text in texts.items()}, [bytes_of(line) for line in found.splitlines()])


def write(file, named, found):
    texts = [(name, escaped(data) + ("" if data.endswith(b"\n") else "\\\n")) for name, data in sorted(named.items())]
    texts.append(("found", "".join(sorted(escaped(data).replace("\n", "\\n") + "\n" for data in found if data))))
    Path(file).write_text(HEAD + "".join(f"=== {name}\n{text}" for name, text in texts), encoding="ascii")
    assert read(file)[0] == named and set(read(file)[1]) == set(found) - {b""}


def main():
    action, file, folder = sys.argv[1], *map(Path, sys.argv[2:])
    named, found = read(file)
    if action == "keep":
        write(file, named, {path.read_bytes() for path in folder.iterdir()} - set(named.values()))
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in [*named.items(), *((sha1(data).hexdigest(), data) for data in found)]:
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
