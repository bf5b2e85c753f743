# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re
from collections import Counter
from pathlib import Path

from judge import Skip, judgement, need
from judge.reading import between, events, read_json


def aer_counts(path):
    """What the kernel has counted of PCIe errors, by device."""
    result = Counter()
    for device, number in re.findall(r"/([^/]+)/aer_dev_\w+:TOTAL_\w+ (\d+)",
                                     Path(path).read_text()):
        result[device] += int(number)
    return result


def kernel_events(metrics, kind):
    """By device; those that did not happen are left out."""
    return {dict(labels)["device"]: int(value)
            for labels, value in metrics.each("kernel_events_total", kind=kind).items() if value}


@judgement
def injected_pcie_errors_count_once(folder):
    lower, upper = (folder / "devices").read_text().split()
    kernels = aer_counts(folder / "end.counts") - aer_counts(folder / "begin.counts")
    lines = Counter(re.findall(r" (\S+): (?:AER: )?PCIe Bus Error: severity=",
                               (folder / "dmesg.txt").read_text()))
    need(lines == {lower: 3, upper: 1}, "the kernel prints", lines)
    # It may leave out of its counts the fatal one, which has made the device inaccessible.
    need(lines - kernels in (Counter(), {lower: 1}), "the kernel counts", kernels)
    for when in ("end", "late"):
        ours = between(folder, "begin", when)
        counted = kernel_events(ours, "pcie_aer")
        need(counted == lines, when, counted)


@judgement
def pcie_errors_and_xids_are_logged_in_order(folder):
    lower, upper = (folder / "devices").read_text().split()
    for path in (folder / "traced.json", folder / "events.json"):
        logged = [e for e in events(path) if e["kind"] == "xid" or e.get("name") == "pcie_aer"]
        order = [(e.get("gpu") or e["device"], e.get("xid", e["severity"])) for e in logged]
        need(order == [(lower, 74), ("0000:9d:00.0", 31), (lower, "info"), (lower, "warning"),
                       (upper, "warning"), (lower, "fatal"), (lower, 79)], path, "has", order)


@judgement
def injected_machine_checks_count_once(folder):
    if (folder / "no-mce").exists():
        raise Skip((folder / "no-mce").read_text().strip())
    ours, late = (between(folder, "begin", when) for when in ("end", "late"))
    kernels = re.findall(r"CPU (\d+): Machine Check: 0 Bank (\d+): ([0-9a-f]{16})",
                         (folder / "dmesg.txt").read_text())
    need(len(kernels) == 3, "the kernel prints", kernels)
    counted = kernel_events(ours, "mce")
    need(counted == Counter("cpu" + cpu for cpu, _, _ in kernels), counted)
    need(kernel_events(late, "mce"), "none by text")
    logged = {(e["device"], e["severity"], e["text"].rsplit(",", 1)[0])
              for e in events(folder / "traced.json") if e.get("name") == "mce"}
    need(logged == {(f"cpu{cpu}", "info", f"machine check: bank {bank}, status 0x{status}")
                    for cpu, bank, status in kernels}, logged)


@judgement
def rules_about_the_devices_of_the_driver(folder):
    lower, _ = (folder / "devices").read_text().split()
    before, after = ({(f["rule"], f["level"], f.get("device"))
                      for f in read_json(folder / f"{when}.json")["findings"]
                      if f["rule"].startswith(("gpus", "pcie"))} for when in ("before", "after"))
    need({rule for rule, _, _ in before} == {"gpus_missing"}, "before", before)
    need(after - before == {("pcie_corrected", "warn", lower)} and before <= after, "after", after)
