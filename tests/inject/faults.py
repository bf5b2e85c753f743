#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that no failing system call and no disturbance makes the agent crash, hang, tear its file, take a counter
back, or lose or double a fault. For guests, as root: it writes faults to the kernel log.

  faults.py calls AGENT        strace makes each call of the writer and of the agent fail with each plausible error
  faults.py NAME TIMES AGENT   a disturbance: killed full read-only vanished clock cpu-offline watched

Prints a line for each case: what, how often it failed, and ok or what was wrong. The files are in /tmp/faults."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

DIR = Path("/tmp/faults")
FOLDER = DIR / "files"
DEVICE = "0000:c1:00"
CATCH_UP, STOP = 60, 5  # seconds: guests are slow
FINE = {"x.prom", "state", "events.json"}

# The errors that the manual pages and the kernel have for a call; a filter of system calls gives EPERM.
FILE = "EINTR ENOENT EACCES EMFILE EROFS ENOSPC"
ERRORS = {
    "read": "EINTR EAGAIN EIO", "pread64": "EINTR EIO", "write": "EINTR EAGAIN EIO ENOSPC", "pwrite64": "EIO ENOSPC",
    "openat": FILE, "open": FILE, "close": "EINTR EIO", "ftruncate": "EINTR EIO",
    "unlinkat": "EACCES EROFS EIO", "renameat": "EACCES ENOSPC EROFS EIO", "flock": "EINTR EWOULDBLOCK ENOLCK",
    "newfstatat": "ENOENT EACCES EIO", "statx": "ENOENT EACCES EIO", "access": "EACCES EIO",
    "epoll_wait": "EINTR", "epoll_pwait": "EINTR", "poll": "EINTR ENOMEM", "ppoll": "EINTR ENOMEM",
    "recvfrom": "EINTR ENOBUFS ENOMEM", "recvmsg": "EINTR ENOBUFS ENOMEM", "sendto": "EINTR EAGAIN ENOBUFS EPIPE",
    "clone": "EAGAIN ENOMEM", "fork": "EAGAIN ENOMEM", "socketpair": "EMFILE ENOMEM", "bpf": "ENOMEM EPERM EAGAIN",
    "mmap": "ENOMEM", "mremap": "ENOMEM", "munmap": "ENOMEM", "madvise": "ENOMEM EAGAIN", "brk": "ENOMEM",
    "exit_group": "", "rt_sigreturn": "", "restart_syscall": "",
}
PATTERNS = {"one": "when=1", "some": "when=1+7", "all": "when=1+"}


class Watch:
    """The metrics file: each version whole, no counter ever back."""
    def __init__(self):
        self.seen, self.samples, self.versions, self.complaint = None, {}, 0, ""

    def look(self):
        try:
            with open(FOLDER / "x.prom", encoding="utf-8") as file:
                status = os.fstat(file.fileno())
                if (status.st_ino, status.st_mtime_ns) == self.seen:
                    return
                self.seen, text = (status.st_ino, status.st_mtime_ns), file.read()
        except OSError:
            return
        self.versions += 1
        if not text.startswith("# TYPE ") or not text.endswith("# EOF\n"):
            self.complaint = self.complaint or f"a version of {len(text)} bytes is torn"
            return
        samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        # Another source begins its counts anew.
        source = [name for name, value in samples.items() if name.startswith("xidscope_rpc_source") and value == "1"]
        for name, value in self.samples.items():
            if not re.match(r"\w+_(total|bucket|count|sum)(\{|$)", name) or \
                    (source != self.source and re.match(r"xidscope_(rpc|nfs)", name)):
                continue
            if float(samples.get(name, -1)) < float(value):
                self.complaint = self.complaint or f"{name} went back from {value} to {samples.get(name)}"
        self.samples, self.source = samples, source

    def faults(self):
        return int(sum(float(value) for name, value in self.samples.items()
                       if name.startswith("xidscope_gpu_xid_errors_total") and DEVICE in name))


def read(path):
    """A file of proc; "" if the process has ended."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""


class Agent:
    def __init__(self, program, *options):
        self.command = [program, "run", "--output", FOLDER / "x.prom", "--state", FOLDER / "state", "--events",
                        FOLDER / "events.json", "--interval", "0.3", "--keep", "--accept-user-kmsg", *options]
        self.wrong, self.printed = [], 0
        self.begin()
        self.printed = self.watch.faults()

    def start(self):
        """Starts the agent, which goes on from the state. Counters begin anew."""
        self.watch = Watch()
        self.watch.look()
        with open(DIR / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        self.watch.versions, self.watch.samples = 0, {}  # what is there is another run's

    def begin(self):
        """Starts it, and returns when it runs as usual."""
        self.start()
        self.wait(lambda: self.watch.versions > 3, 180)
        self.settle()

    def serve(self, seconds):
        self.wait(lambda: False, seconds)

    def wait(self, done, seconds):
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.02)
            self.watch.look()
        return done()

    def fault(self):
        """In turn, for more lines in the event log."""
        with open("/dev/kmsg", "w", encoding="utf-8") as log:
            code = (79, 48)[self.printed % 2]
            log.write(f"<3>NVRM: Xid (PCI:{DEVICE}): {code}, pid=1, name=faults, {self.printed}\n")
        self.printed += 1

    def faults(self, seconds):
        for _ in range(round(seconds / 0.3)):
            self.fault()
            self.serve(0.3)

    def writer(self):
        children = read(f"/proc/{self.process.pid}/task/{self.process.pid}/children").split()
        return [int(pid) for pid in children if read(f"/proc/{pid}/comm").strip() == "xidscope-writer"]

    def descriptors(self):
        """The least over four versions of the file: some are open for a moment."""
        def now():
            try:
                return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in [self.process.pid, *self.writer()])
            except OSError:
                return 9999
        least, until = now(), self.watch.versions + 4
        end = time.monotonic() + CATCH_UP
        while self.watch.versions < until and time.monotonic() < end and self.process.poll() is None:
            self.serve(0.02)
            least = min(least, now())
        return least

    def resident(self):
        return int(re.search(r"VmRSS:\s+(\d+)|$", read(f"/proc/{self.process.pid}/status"))[1] or 0)

    def judge(self, spare_descriptors=0):
        """All is as it was before: another fault is counted, and nothing is left open."""
        self.fault()
        if not self.wait(lambda: self.watch.faults() == self.printed, CATCH_UP):
            self.wrong.append(f"{self.watch.faults()} faults, not {self.printed}")
        if self.process.poll() is not None:
            self.wrong.append(f"ended with {self.process.poll()}")
            return
        end = time.monotonic() + CATCH_UP
        most = self.usual + spare_descriptors
        while not self.usual <= (now := self.descriptors()) <= most and time.monotonic() < end:
            pass
        if not self.usual <= now <= most or len(self.writer()) != 1:
            self.wrong.append(f"{now} descriptors, not {self.usual}; {len(self.writer())} writers")
        if self.resident() > self.resident_before + 1024:
            self.wrong.append(f"{self.resident() - self.resident_before} kB of memory more")
        if self.watch.complaint:
            self.wrong.append(self.watch.complaint)

    def settle(self):
        self.usual, self.resident_before = self.descriptors(), self.resident()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.wait(lambda: self.process.poll() is not None, STOP)
        if self.process.poll() is None:
            self.wrong.append("did not end on SIGTERM")
            self.process.kill()
            self.process.wait()
        elif self.process.returncode:
            self.wrong.append(f"ended with {self.process.returncode}")

    def verify(self, fine=frozenset()):
        """The next agent goes on from the state: it counts the same, and nothing is left in the folder."""
        if (FOLDER / "x.prom").exists():
            shutil.copy(FOLDER / "x.prom", DIR / "last.prom")
        self.start()
        if not self.wait(lambda: self.watch.versions and self.watch.faults() == self.printed, CATCH_UP):
            self.wrong.append(f"the next run has {self.watch.faults()} faults, not {self.printed}")
        self.stop()
        left = {path.name for path in FOLDER.iterdir()} - FINE - fine
        if left:
            self.wrong.append(f"left: {left}")

    def result(self, *what):
        print(*what, "; ".join(self.wrong) or "ok", sep="\t", flush=True)
        failed, self.wrong = bool(self.wrong), []
        return failed


# ---- failing calls ----

def trace(pid, *options):
    """Starts strace, which has attached when this returns."""
    out = DIR / "strace"
    process = subprocess.Popen(["strace", "-qq", "-o", out, *options, "-p", str(pid)],
                               stderr=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while f"TracerPid:\t{process.pid}\n" not in read(f"/proc/{pid}/status") and time.monotonic() < end:
        time.sleep(0.01)
    return process, out


def detach(process):
    process.terminate()
    process.wait()


def pid_of(agent, who):
    pids = [agent.process.pid] if who == "agent" else []
    agent.wait(lambda: pids or pids.extend(agent.writer()), CATCH_UP)
    return pids[0] if pids else agent.process.pid


def calls_of(agent, who):
    process, out = trace(pid_of(agent, who))
    agent.faults(5)
    detach(process)
    return sorted(set(re.findall(r"^(\w+)\(", out.read_text(errors="replace"), re.M)))


def fail_call(agent, who, call, error, pattern):
    """Faults are printed meanwhile, and the agent is asked for its file."""
    process, out = inject(agent, who, call, error, PATTERNS[pattern])
    agent.faults(1.2)
    try:
        agent.process.send_signal(signal.SIGHUP)
    except OSError:
        pass
    agent.faults(0.9)
    detach(process)
    failed = out.read_text(errors="replace").count("(INJECTED)")
    agent.judge(failed if call == "close" else 0)
    # What fails to be closed or unmapped stays until the process ends.
    if call in ("close", "munmap"):
        agent.settle()
    return agent.result(who, call, error, pattern, failed)


def inject(agent, who, call, error, when):
    # What fails is that the break moves: the kernel returns the old one.
    what = "retval=0" if call == "brk" else f"error={error}"
    return trace(pid_of(agent, who), "-e", f"trace={call}", "-e", f"inject={call}:{what}:{when}")


def fail_end(agent, who, call, error):
    """The end with up to 20 failing calls, and the next agent."""
    process, out = inject(agent, who, call, error, "when=1..20")
    agent.stop()
    detach(process)
    failed = out.read_text(errors="replace").count("(INJECTED)")
    # The process may have hung longer than the agent waits, or have been unable to remove them.
    agent.verify({".x.prom.lock", ".state.lock", ".x.prom.tmp", ".state.tmp"} if failed else set())
    agent.begin()
    return agent.result(who, call, error, "end", failed)


def fail_calls(program):
    failed = False
    agent = Agent(program)
    for who in "writer", "agent":
        for call in calls_of(agent, who):
            for error in ERRORS.get(call, "EPERM ENOMEM").split():
                for pattern in PATTERNS:
                    failed |= fail_call(agent, who, call, error, pattern)
                    if agent.process.poll() is not None:
                        agent.begin()
                failed |= fail_end(agent, who, call, error)
    agent.stop()
    return failed


# ---- disturbances ----

def killed(agent, times):
    """At random instants, those of its start among them; in turn the agent and its writer."""
    for i in range(times):
        agent.serve(random.random() / 4)
        agent.fault()
        victims = agent.writer() if i % 2 else [agent.process.pid]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        if not i % 2:
            agent.process.wait()
            agent.fault()
            if agent.watch.complaint:
                agent.wrong.append(agent.watch.complaint)
            agent.start()


def full(agent, times):
    for _ in range(times):
        with open(FOLDER / "fill", "wb", buffering=0) as fill:
            try:
                while fill.write(bytes(4096)):
                    pass
            except OSError:
                pass
            agent.faults(1)
        (FOLDER / "fill").unlink()
        agent.faults(0.6)


def read_only(agent, times):
    for _ in range(times):
        while subprocess.run(["mount", "-o", "remount,ro", FOLDER], check=False, capture_output=True).returncode:
            agent.serve(0.05)  # a file is being written
        agent.faults(1)
        subprocess.run(["mount", "-o", "remount,rw", FOLDER], check=True)
        agent.faults(0.6)


def vanished(agent, times):
    for _ in range(times):
        FOLDER.rename(DIR / "away")
        agent.faults(1)
        (DIR / "away").rename(FOLDER)
        agent.faults(0.6)


def clock(agent, times):
    hours = 5 * 3600
    for step in (hours, -2 * hours, hours) * times:
        time.clock_settime(time.CLOCK_REALTIME, time.time() + step)
        agent.faults(0.9)


def cpu_offline(agent, times):
    for online in "01" * times:
        Path("/sys/devices/system/cpu/cpu1/online").write_text(online)
        agent.faults(0.9)


def watched(agent, seconds):
    """While there is /tmp/agent.busy, and at least so long: other programs do the rest."""
    end = time.monotonic() + seconds
    while (time.monotonic() < end or Path("/tmp/agent.busy").exists()) and agent.process.poll() is None:
        agent.fault()
        agent.serve(1)
    print(f"# watched: {agent.watch.versions} versions of the file, {agent.printed} faults")
    agent.resident_before = agent.resident()  # it grows with the series


def disturb(what, times, program):
    if what in ("full", "read-only"):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", FOLDER], check=True)
    agent = Agent(program, *(["--interval", "0.1"] if what == "watched" else []))
    globals()[what.replace("-", "_")](agent, times)
    agent.judge()
    agent.stop()
    agent.verify()
    return agent.result(what, times)


def main():
    subprocess.run(["umount", "-q", FOLDER], check=False)  # of a disturbance before
    shutil.rmtree(DIR, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    Path("/proc/sys/kernel/printk_devkmsg").write_text("on\n")
    what, *times, program = sys.argv[1:]
    return disturb(what, int(times[0]), program) if times else fail_calls(program)


sys.exit(main())
