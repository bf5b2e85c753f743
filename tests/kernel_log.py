#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the tests wrote nothing into the kernel log of this machine: kernel_log.py [SEQUENCE]

Without an argument: prints the sequence number that the next record will have. With one: prints the records since
then that are ours and fails if there are any. Ours are records that a process wrote into /dev/kmsg (the kernel gives
them the facility "user"), and records of the kernel that name the program or one of its tests. Exit 77: the log cannot
be read."""
import os
import re
import sys

USER, OURS = 1, re.compile(r"xidscope|\btest_\w+\[")


def records():
    """Yields (sequence, facility, text) of each record that the log holds."""
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    while True:
        try:
            head, _, text = os.read(log, 8192).decode("utf-8", "replace").partition(";")
        except BlockingIOError:
            return
        except BrokenPipeError:  # overwritten meanwhile: the next read goes on behind the gap
            continue
        priority, sequence, *_ = head.split(",")
        yield int(sequence), int(priority) >> 3, text.partition("\n")[0]


def main():
    try:
        log = list(records())
    except OSError as error:
        print(f"the kernel log cannot be read: {error}")
        return 77
    if len(sys.argv) < 2:
        print(log[-1][0] + 1 if log else 0)
        return 0
    found = [text for sequence, facility, text in log
             if sequence >= int(sys.argv[1]) and (facility == USER or OURS.search(text))]
    if found:
        print("what needs a kernel log belongs into a guest (tests/vm/scenarios); the tests wrote:", *found, sep="\n")
    return bool(found)


sys.exit(main())
