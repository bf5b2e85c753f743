# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from pathlib import Path

from judge import judgement, need
from judge.checks import counts
from judge.reading import between, events


@judgement
def every_known_line_is_read_right(folder):
    expected, by_fault = {}, {}
    for line in (Path(__file__).parents[2] / "data" / "xid_lines.tsv").read_text().split("\n")[1:]:
        if not line:
            continue
        source, _, pci, code, pid, process, kind = line.split("\t")[:7]
        if kind not in ("xid", "sxid") or "#detail" in source:
            continue
        *domain, bus, slot = pci.split(":")  # bus and slot alone until about 2010
        device = f"{domain[0] if domain else '0000'}:{int(bus, 16):02x}:{slot}"
        device = device if "." in device else device + ".0"
        key = (device, int(code))
        by_fault[key] = by_fault.get(key, 0) + 1
        key += (int(pid) if pid else -1, process)
        expected[key] = expected.get(key, 0) + 1
    for name in ("kmsg", "driver"):
        ours = between(folder, f"{name}-begin", name)
        need(counts(ours) == by_fault, name, "counts differ:", sorted(
            set(counts(ours).items()) ^ set(by_fault.items())))
        seen = {}
        for event in events(folder / f"{name}.json", int((folder / f"{name}.skip").read_text())):
            if event["kind"] not in ("xid", "sxid") or event.get("replayed"):
                continue
            key = (event.get("gpu", event.get("device")), event.get("xid", event.get("sxid")),
                   event.get("pid", -1), event.get("comm", ""))
            seen[key] = seen.get(key, 0) + 1 + event["repeats"]
        need(seen == expected, name, "events differ:", sorted(
            set(seen.items()) ^ set(expected.items())))
    return f"{sum(expected.values())} faults, twice"
