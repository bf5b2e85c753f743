# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import number, read_json

THREE, FOUR = "/mnt/three", "/mnt/with blank"
INTERVAL = 5


def seconds(folder, name):
    return number(folder / f"{name}.seconds")


def devices(folder, name):
    return sorted(finding["device"] for finding in read_json(folder / f"{name}.json")["findings"])


@judgement
def a_mount_that_hangs_is_found(folder):
    need(devices(folder, "hung") == devices(folder, "again") == [THREE, FOUR], devices(folder, "hung"))
    # It asks every half minute, and waits for a second; a guest's host may be busy.
    for name in "hung", "again", "over":
        need(seconds(folder, name) <= 50, name, seconds(folder, name), "s")
    need(not (folder / "lost").exists(), "a finding is lost:", (folder / "lost"))
    return f"after {seconds(folder, 'hung')} s, over after {seconds(folder, 'over')} s"


@judgement
def a_mount_that_changes_is_found_at_once(folder):
    need(devices(folder, "absent") == ["/mnt/nothing"] and devices(folder, "read-only") == [THREE], "devices")
    took = [seconds(folder, name) for name in ("absent", "there", "read-only", "writable")]
    need(max(took) <= 5, took)
    return took


@judgement
def the_agent_never_waits(folder):
    ages = [read_json(folder / f"hung-{i}.json")["age_seconds"] for i in range(1, 31)]
    need(max(ages) < INTERVAL + 2, "the health file is late:", ages)
    stop = number(folder / "stop.milliseconds")
    need(stop < 2000, "it ends after", stop, "ms")
    need((folder / "stopped").read_text().startswith("XIDSCOPE UNKNOWN: cannot read health.json: "), "stopped")
    left = [int(line) for line in (folder / "left").read_text().split()]
    need(max(left) <= 2, "processes:", left)
    need(not (folder / "stuck").read_text(), "it leaves", (folder / "stuck").read_text())
    return f"ages up to {max(ages):.1f} s, ends in {stop} ms, at most {max(left)} processes"


@judgement
def a_slow_server_does_not_hang(folder):
    need(not (folder / "slow").exists(), (folder / "slow"))
