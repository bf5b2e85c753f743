#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves on a terminal that `xidscope top` fits its size, obeys its keys, and leaves the terminal as it was at each
end: top_screen.py PROGRAM ARGUMENT... It waits for what a frame shows, never for a time."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

LEAVE = "\x1b[?1049l"
PATIENCE = 60  # seconds, for a busy machine


class Screen:
    """The program on a terminal of its own."""

    def __init__(self, arguments, columns=80, rows=24, **environment):
        self.bytes = ""
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(slave, fd)
            os.execve(arguments[0], arguments, dict(os.environ, TERM="xterm", TZ="UTC", **environment))
        self.slave = slave

    def resize(self, columns, rows):
        self.size = columns, rows
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        if select.select([self.master], [], [], 0.2)[0]:
            self.bytes += os.read(self.master, 65536).decode()

    def frame(self):
        """The last frame as lines without colours."""
        whole = self.bytes.split("\x1b[H")
        text = re.sub(r"\x1b\[[0-9;]*[mKJ]", "", whole[-1] if whole[1:] else "")
        return text.replace("\r", "").split("\n")

    def wait(self, what, wanted):
        end = time.monotonic() + PATIENCE
        while not wanted():
            if time.monotonic() > end:
                sys.exit(f"no {what}; the last frame is\n" + "\n".join(self.frame()))
            self.read()

    def shows(self, pattern):
        self.wait(f"frame with {pattern}", lambda: re.search(pattern, "\n".join(self.frame())))
        columns, rows = self.size
        frame = self.frame()
        if len(frame) > rows or max(map(len, frame)) > columns:
            sys.exit(f"{len(frame)} lines of at most {max(map(len, frame))} columns do not fit {columns}x{rows}")
        return frame

    def press(self, keys):
        os.write(self.master, keys.encode())

    def ends(self, status):
        """Waits for the end, and compares the terminal with what it was."""
        self.wait("end", lambda: os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
        got = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        while select.select([self.master], [], [], 0)[0]:
            self.read()
        if got != status or not self.bytes.rstrip().endswith(LEAVE):
            sys.exit(f"it ends with {got}, not {status}, after {self.bytes[-80:]!r}")
        self.is_as_before()

    def is_as_before(self):
        if termios.tcgetattr(self.slave) != self.before:
            sys.exit("the terminal is not as it was")

    def is_in_state(self, letter):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == letter


def prove_keys(arguments):
    screen = Screen(arguments)
    screen.shows(r"\nmounts .*\n/mnt/(?s:.*)freeze q quit")
    for name in "owners", "both", "ops", "servers", "connections", "mounts":
        screen.press("p" if name == "ops" else name[0])
        screen.shows(rf"\n{name} ")
    screen.press("p\x1b[C\x1bOP")  # an arrow and F1 are no keys of it
    screen.shows(r"\nops ")
    screen.press("/getattr\x7fr\n")
    if any("LOOKUP" in line for line in screen.shows(r"only getattr\nops.*\nGETATTR nas-1 ")):
        sys.exit("the filter shows another op")
    screen.press("/zzz\n")
    screen.shows(r"0 of 0 rows, only zzz")
    screen.press("/\x1b")
    screen.shows(r"3 of 3 rows\nops.*\nACCESS .*\nGETATTR .*\nLOOKUP ")
    screen.press("<")
    screen.shows(r"\nops ")
    screen.wait("sorted column", lambda: re.search(r"\x1b\[7m *oldest", screen.bytes))
    screen.press(">>>>")
    screen.wait("sorted column", lambda: re.search(r"\x1b\[7m *mean", screen.bytes))
    screen.press("f")
    frozen = screen.shows("frozen")
    screen.press("s")
    if screen.shows(r"frozen.*\nservers")[3].split(",")[1] != frozen[3].split(",")[1]:  # "the last 1 s until 18:33:50"
        sys.exit("it went on while it was frozen")
    screen.press("f")
    screen.wait("new frame", lambda: screen.frame()[3:4] and "frozen" not in screen.frame()[3])
    screen.resize(140, 50)
    screen.wait("wide frame", lambda: max(map(len, screen.frame())) > 90)
    screen.resize(60, 5)
    screen.wait("small frame", lambda: len(screen.frame()) <= 5)
    screen.press("q")
    screen.ends(0)


def prove_ends(arguments):
    screen = Screen(arguments)
    screen.shows(r"\nmounts ")
    os.kill(screen.pid, signal.SIGTSTP)
    screen.wait("stop", lambda: screen.is_in_state("T"))
    screen.is_as_before()
    screen.bytes = ""
    os.kill(screen.pid, signal.SIGCONT)
    screen.shows(r"\nmounts ")
    screen.press("s")  # reaches it without Enter where it has taken the terminal again
    screen.shows(r"\nservers ")
    os.kill(screen.pid, signal.SIGTERM)
    screen.ends(-signal.SIGTERM)
    for number in signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV:
        screen = Screen(arguments)
        screen.shows(r"\nmounts ")
        os.kill(screen.pid, number)
        screen.ends(-number)


def prove_hang(arguments):
    """The server that hangs comes first, and in the headline."""
    screen = Screen(arguments + ["--interval", "0.1", "--by", "servers"], NO_COLOR="1")
    lines = screen.shows(r"\nservers .*\nnas-2.* \d\d\.\d s\n")
    if "nas-2" not in lines[0]:
        sys.exit(f"the headline is {lines[0]}")
    if "\x1b[3" in screen.bytes:
        sys.exit("NO_COLOR is ignored")
    screen.shows(r"GPU faults: 1 open, 1 since boot: Xid 79 on 0000:c1:00.0")
    screen.press("q")
    screen.ends(0)


prove_keys(sys.argv[1:])
prove_ends(sys.argv[1:])
prove_hang(sys.argv[1:])
