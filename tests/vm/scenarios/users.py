# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A user of NFS who makes ordinary mistakes, for the scenario `ordinary`: users.py KIND NAME DIR SECONDS [OTHER].

OTHER is the same folder, by another client. What the calls failed with is counted in the file NAME, or printed for "-".
"""
import collections
import contextlib
import errno
import fcntl
import json
import mmap
import os
import random
import shutil
import sys
import time

ERRORS = collections.Counter()


@contextlib.contextmanager
def may_fail():
    try:
        yield
    except OSError as e:
        ERRORS[errno.errorcode.get(e.errno, str(e.errno))] += 1


def write(path, data, flags=os.O_CREAT | os.O_TRUNC, mode=0o644):
    file = os.open(path, os.O_WRONLY | flags, mode)
    try:
        os.write(file, data)
    finally:
        os.close(file)


def read(path, size=1 << 16):
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, size)
    finally:
        os.close(file)


def build(folder, turn, _):
    """As ./configure and make do: search in many places, make what may be there, clean."""
    for place in ("bin", "lib", "include", f"none{turn}"):
        for tool in range(20):
            with may_fail():
                os.stat(f"{folder}/{place}/tool{random.randrange(10000)}{tool}")
    for part in ("obj", "obj/a", "obj/b"):
        with may_fail():
            os.mkdir(f"{folder}/{part}")
    for i in range(10):
        write(f"{folder}/conftest.c", b"int main;" * 99)
        data = read(f"{folder}/conftest.c")
        write(f"{folder}/obj/a/{i}.tmp", data * 20)
        os.rename(f"{folder}/obj/a/{i}.tmp", f"{folder}/obj/a/{i}.o")
        os.unlink(f"{folder}/conftest.c")
        with may_fail():
            os.unlink(f"{folder}/conftest.c")
    with may_fail():
        os.rmdir(f"{folder}/obj")
    with may_fail():
        os.rename(f"{folder}/obj/a", f"{folder}/obj/b/a")
    with may_fail():
        os.rename(f"{folder}/obj/b", f"{folder}/obj")  # is not empty
    if turn % 3 == 0:
        shutil.rmtree(f"{folder}/obj")


def git(folder, turn, _):
    """As git does: objects by their hash, locks by O_EXCL, refs by rename."""
    for _ in range(8):
        name = f"{random.randrange(256):02x}"
        with may_fail():
            os.mkdir(f"{folder}/{name}", 0o755)
        with may_fail():
            write(f"{folder}/{name}/{turn % 40}", os.urandom(2000), os.O_CREAT | os.O_EXCL, 0o444)
        with may_fail():
            os.link(f"{folder}/{name}/{turn % 40}", f"{folder}/{name}/linked")
    for _ in range(2):
        with may_fail():
            write(f"{folder}/index.lock", b"x" * 5000, os.O_CREAT | os.O_EXCL)
    with may_fail():
        file = os.open(f"{folder}/index.lock", os.O_WRONLY)
        os.fsync(file)
        os.close(file)
    os.rename(f"{folder}/index.lock", f"{folder}/index")
    for name in ("HEAD", "packed-refs", "refs", "config.worktree", "shallow", "MERGE_HEAD"):
        with may_fail():
            read(f"{folder}/{name}")


def locks(folder, turn, _):
    """Several want the same locks: of flock, of fcntl with and without waiting, and by O_EXCL."""
    file = os.open(f"{folder}/lock", os.O_RDWR | os.O_CREAT)
    for take in (fcntl.flock, fcntl.lockf):
        with may_fail():
            take(file, fcntl.LOCK_EX | (fcntl.LOCK_NB if turn % 4 else 0))
            os.pwrite(file, b"held", 0)
            time.sleep(random.random() / 4)
            take(file, fcntl.LOCK_UN)
    os.close(file)
    with may_fail():
        os.close(os.open(f"{folder}/exclusive", os.O_CREAT | os.O_EXCL))
        time.sleep(0.1)
        os.unlink(f"{folder}/exclusive")


def odd(folder, turn, _):
    """What a file system may refuse, or does in its own way."""
    path = f"{folder}/file"
    write(path, b"data" * 5000)
    trials = (lambda: os.symlink("loop", f"{folder}/loop"),
              lambda: read(f"{folder}/loop"),
              lambda: write(f"{folder}/{'n' * 300}", b""),
              lambda: write(f"{folder}/{'n' * 255}", b""),
              lambda: os.stat(f"{path}/below"),
              lambda: read(folder),
              lambda: os.rmdir(path),
              lambda: os.unlink(folder),
              lambda: os.readlink(path),
              lambda: os.getxattr(path, "user.none"),
              lambda: os.setxattr(path, "user.x", b"1"),
              lambda: os.listxattr(path),
              lambda: os.getxattr(path, "system.posix_acl_access"),
              lambda: os.setxattr(path, "trusted.x", b"1"),
              lambda: os.statvfs(path),
              lambda: os.rename(path, "/tmp/elsewhere"),
              lambda: os.link(folder, f"{folder}/hard"),
              lambda: os.rename(folder, f"{folder}/own"),
              lambda: os.mknod(f"{folder}/pipe", 0o10644),
              lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR),
              lambda: os.utime(path, (turn, turn)),
              lambda: os.truncate(folder, 0),
              lambda: os.open(f"{folder}/pipe2/x", os.O_RDONLY))
    for trial in trials:
        with may_fail():
            trial()
    file = os.open(path, os.O_RDWR)
    os.ftruncate(file, 10 << 20)
    os.pwrite(file, b"end", 9 << 20)
    with may_fail():
        os.lseek(file, 0, os.SEEK_HOLE)
        os.lseek(file, 5 << 20, os.SEEK_DATA)
        os.lseek(file, 11 << 20, os.SEEK_DATA)
    with may_fail():
        os.posix_fallocate(file, 0, 1 << 16)
    with may_fail():
        os.pread(file, 1 << 20, 4 << 20)
    with may_fail():
        to = os.open(f"{folder}/copy", os.O_RDWR | os.O_CREAT)
        os.copy_file_range(file, to, 1 << 16)
        fcntl.ioctl(to, 0x40049409, file)  # FICLONE
    os.close(to)
    with mmap.mmap(file, 1 << 16) as area:
        area[100:104] = b"here"
        area.flush()
    os.close(file)
    for name in ("loop", "copy", "n" * 255):
        with may_fail():
            os.unlink(f"{folder}/{name}")


def stranger(folder, turn, _):
    """Has no rights."""
    own = f"{folder}/sticky/{os.getpid()}"
    trials = (lambda: os.listdir(f"{folder}/secret"),
              lambda: read(f"{folder}/secret/file"),
              lambda: write(f"{folder}/secret/new", b"x"),
              lambda: write(f"{folder}/git/index", b"x"),
              lambda: os.mkdir(f"{folder}/git/new"),
              lambda: os.unlink(f"{folder}/git/index"),
              lambda: os.chmod(f"{folder}/git/index", 0o777),
              lambda: os.chown(f"{folder}/git/index", 65534, 65534),
              lambda: os.utime(f"{folder}/git/index", (1, 1)),
              lambda: os.truncate(f"{folder}/git/index", 1),
              lambda: write(own, b"mine" * 1000, mode=0o400),
              lambda: write(own, b"again"),
              lambda: os.chown(own, 0, 0),
              lambda: os.rename(own, f"{folder}/git/mine"),
              lambda: os.mknod(f"{own}.device", 0o20644, 0x0105),
              lambda: os.unlink(own))
    for trial in trials:
        with may_fail():
            trial()


def races(folder, turn, other):
    """Lists and reads what another client makes, renames and removes meanwhile."""
    write(f"{other}/{turn}", b"there")
    for name in os.listdir(folder):
        with may_fail():
            os.stat(f"{folder}/{name}")
            read(f"{folder}/{name}")
        with may_fail():
            os.unlink(f"{other}/{name}")
        with may_fail():
            os.stat(f"{folder}/{name}")
            read(f"{folder}/{name}")
        with may_fail():
            os.unlink(f"{folder}/{name}")
    time.sleep(4)


def stale(folder, turn, other):
    """A reader's file is replaced by another client; the reader opens it again."""
    write(f"{other}/log", b"line\n" * 9999)
    with may_fail():  # its own client may remember for a while that the file was gone
        file = os.open(f"{folder}/log", os.O_RDONLY | os.O_DIRECT)
        area = mmap.mmap(-1, 4096)
        os.preadv(file, [area], 0)
        os.unlink(f"{other}/log")
        with may_fail():
            os.preadv(file, [area], 4096)
        os.close(file)
    with may_fail():
        read(f"{folder}/log")
    time.sleep(4)


def main():
    kind, name, folder, seconds, *other = sys.argv[1:]
    end, turn = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        globals()[kind](folder, turn, *(other or [None]))
        turn += 1
        time.sleep(random.random())
    ERRORS["turns"] = turn
    text = json.dumps(ERRORS)
    if name == "-":
        print(text)
    else:
        with open(name, "w", encoding="ascii") as file:
            file.write(text)


main()
