#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a test where it cannot load BPF: guarded.py COMMAND...

The tests of commands run as root on the machine of whoever runs them. BPF belongs into a guest: here the kernel refuses
the system call bpf() with EPERM to the command and to all that it starts."""
import ctypes
import os
import platform
import struct
import sys

BPF_CALL = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE_WITH_EPERM, ALLOW = 0x00050001, 0x7fff0000

instructions = b"".join(struct.pack("=HBBI", *fields) for fields in (
    (LOAD_NUMBER, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, BPF_CALL), (RETURN, 0, 0, REFUSE_WITH_EPERM), (RETURN, 0, 0, ALLOW)))
buffer = ctypes.create_string_buffer(instructions, len(instructions))
program = struct.pack("@HxxxxxxP", len(instructions) // 8, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
if os.geteuid():  # root keeps its programs with other rights
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
    sys.exit(f"guarded.py: cannot refuse bpf(): {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
