#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A FUSE file system that answers only while the file ANSWER exists: who has asked it sleeps so that no signal ends the
sleep, as with a server that hangs. mute_fuse.py FOLDER ANSWER [USER]; ends when it is unmounted. With USER, read-only
and as that user's, which is how fusermount3 mounts it."""
import ctypes
import os
import select
import struct
import sys

INIT, GETATTR, FORGET, INTERRUPT, BATCH_FORGET = 26, 3, 2, 36, 42


def main():
    folder, answer, *user = sys.argv[1:]
    fuse = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fuse},rootmode=40000,user_id={user[0] if user else 0},group_id=0,allow_other".encode()
    if libc.mount(b"mute", folder.encode(), b"fuse", 7 if user else 6, options):
        sys.exit(77)  # it is not allowed here
    print("mounted", flush=True)
    waiting = []

    def reply(unique, opcode):
        if opcode == INIT:
            body = struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 16, 16, 4096, 1, 0, 0, 0, *[0] * 7)
        else:  # GETATTR: a folder
            body = struct.pack("<QII6Q10I", *[0] * 3, 1, *[0] * 8, 0o40755, 2, 0, 0, 0, 4096, 0)
        os.write(fuse, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)

    while True:
        if select.select([fuse], [], [], 0.05)[0]:
            try:
                request = os.read(fuse, 1 << 20)
            except OSError:
                return
            _, opcode, unique = struct.unpack("<IIQ", request[:16])
            if opcode in (FORGET, INTERRUPT, BATCH_FORGET):
                continue
            waiting.append((unique, opcode))
        if waiting and (waiting[0][1] == INIT or os.path.exists(answer)):
            reply(*waiting.pop(0))


if __name__ == "__main__":
    main()
