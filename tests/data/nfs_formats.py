#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the NFS client of a kernel's source tree may print, compared with nfs_formats.tsv.

nfs_formats.py SOURCE: prints each format that the table lacks, and ends with 1 if there is one. Debugging (dprintk) and
the NFS server's files (svc) are left out."""
import pathlib
import re
import sys

FOLDERS = "fs/nfs", "fs/lockd", "fs/nfs_common", "net/sunrpc"
PRINTS = re.compile(r"\b(?:printk|pr_(?:emerg|alert|crit|err|warn|warning|notice|info)|nfs_errorf|nfs_warnf"
                    r"|net_(?:err|warn|notice|info))(?:_ratelimited|_once)?\s*\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def formats(text):
    """Each call's first string, its pieces joined: arguments follow it after a comma."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for call in PRINTS.finditer(text):
        rest, pieces = text[call.end():call.end() + 600], []
        rest = re.sub(r"^\s*(?:fc,|KERN_\w+)?\s*", "", rest)
        while match := STRING.match(rest):
            pieces.append(match[1])
            rest = rest[match.end():].lstrip()
        if pieces:
            yield "".join(pieces).removesuffix("\\n")


def main():
    table = pathlib.Path(__file__).with_name("nfs_formats.tsv").read_text().splitlines()
    known = {line.split("\t")[1] for line in table[1:]}
    new, files = {}, 0
    for folder in FOLDERS:
        for file in sorted((pathlib.Path(sys.argv[1]) / folder).rglob("*.[ch]")):
            if "svc" not in file.name and "debug" not in file.name:
                files += 1
                new |= {text: file for text in formats(file.read_text()) if text not in known}
    for text, file in new.items():
        print(f"{file}: {text}")
    sys.exit(f"{sys.argv[1]} is no kernel source tree" if not files else bool(new))


main()
