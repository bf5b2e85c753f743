#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the Python reference parsers read a sample file as it was meant:
the strict OpenMetrics one, or the one for Prometheus text.

Usage: read_with_prometheus_client.py openmetrics|prometheus FACTS <FILE
FACTS is what `write_sample facts DETAIL` writes.
"""

import re
import sys
from collections import defaultdict

from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as read_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as read_prometheus
from prometheus_client.utils import floatToGoString

PHASES = ["session", "slot", "send", "delay", "resend", "setup", "rtt", "finish"]


def label(raw):
    """What label_from_bytes() should make of raw bytes, by other means."""
    text = raw.decode("utf-8", errors="surrogateescape")
    text = re.sub(r"\\(?=x[0-9a-fA-F]{2})", r"\\x5c", text)
    unsafe = re.compile("[\0-\x1f\x7f-\x9f\u2028\u202e\udc80-\udcff]")
    return unsafe.sub(lambda c: "".join(f"\\x{b:02x}" for b in c[0].encode("utf-8", "surrogateescape")), text)


def read_facts(path):
    families, servers, ops = {}, [], []
    with open(path, encoding="utf-8") as facts:
        for line in facts:
            kind, *words = line.rstrip("\n").split("\t")
            if kind == "family":
                families[words[0]] = words[1:]
            elif kind == "server":
                servers.append(label(bytes.fromhex(words[0])))
            elif kind == "op":
                ops.append((servers[int(words[0])], words[1], int(words[2])))
            else:
                sys.exit(f"{path}: {kind}?")
    return families, servers, ops


def check(condition, *what):
    if not condition:
        sys.exit("wrong: " + " ".join(map(repr, what)))


def check_families(found, families, openmetrics):
    """Names, types, units, labels: all that the table has, and nothing else."""
    check(sorted(found) == sorted(families), set(found) ^ set(families))
    for name, (kind, unit, labels) in families.items():
        family = found[name]
        check(family.type == kind, name, family.type, kind)
        check(family.documentation.endswith("."), name, family.documentation)
        if openmetrics:
            check(family.unit == unit, name, family.unit, unit)
        check(family.samples, name, "has no samples")
        suffixes = {
            "counter": {"_total"},
            "gauge": {""},
            "histogram": {"_bucket", "_count", "_sum"},
        }[kind]
        expected = {part for part in labels.split(", ") if part}
        for sample in family.samples:
            check(sample.name in {name + s for s in suffixes}, sample.name)
            check(set(sample.labels) - {"le"} == expected, sample)
            check(sample.timestamp is None and not sample.exemplar, sample)
            if "le" in sample.labels:  # spelled as everybody does; from 1e+10 on, Python writes e+010
                bound = sample.labels["le"]
                check(bound == re.sub(r"e\+0(\d\d)$", r"e+\1", floatToGoString(bound)), name, bound)


def check_sums(found, family, label, expected, **labels):
    """The histograms of a family, together, have these counts and sums (as far as doubles do)."""
    check(all(label in s.labels for s in found[family].samples), family, label)
    expected = list(expected)
    for suffix, values in ("_count", [pair[0] for pair in expected]), ("_sum", [pair[1] for pair in expected]):
        have = sum(s.value for s in found[family].samples
                   if s.name == family + suffix and labels.items() <= s.labels.items())
        check(abs(have - sum(values)) <= 1e-9 * max(1, have), family, suffix, labels, have, sum(values))


def check_calls(found, ops):
    """Counts per op, and phases that add up (as far as doubles do)."""
    total, phase = {}, defaultdict(dict)
    for sample in found["xidscope_rpc_op_calls"].samples:
        total[sample.labels["server"], sample.labels["op"]] = [sample.value, 0]
    for sample in found["xidscope_rpc_op_seconds"].samples:
        total[sample.labels["server"], sample.labels["op"]][1] = sample.value
    for sample in found["xidscope_rpc_op_phase_seconds"].samples:
        phase[sample.labels["server"], sample.labels["op"]][sample.labels["phase"]] = sample.value
    check_sums(found, "xidscope_rpc_seconds", "kind", total.values())
    for name in PHASES:
        check_sums(found, "xidscope_rpc_phase_seconds", "phase",
                   [(total[key][0], parts[name]) for key, parts in phase.items()], phase=name)
    if "xidscope_rpc_op_duration_seconds" in found:
        check_sums(found, "xidscope_rpc_op_duration_seconds", "op", total.values())
    check(len(total) == len(ops), len(total), len(ops))
    for server, op, count in ops:
        check((server, op) in total, "missing", server, op)
        calls, seconds = total[server, op]
        check(calls == count, server, op, calls, count)
        parts = phase[server, op]
        check(sorted(parts) == sorted(PHASES), server, op, sorted(parts))
        added = sum(parts.values())
        check(abs(added - seconds) < 1e-9 * max(1, seconds), server, op, added, seconds)


def check_servers(found, servers):
    """Names come back as they went in."""
    check(len(set(servers)) == len(servers), servers)
    for name, family in found.items():
        seen = {s.labels["server"] for s in family.samples if "server" in s.labels}
        if seen:
            check(seen == set(servers), name, seen ^ set(servers))


def main():
    openmetrics = sys.argv[1] == "openmetrics"
    families, servers, ops = read_facts(sys.argv[2])
    text = sys.stdin.buffer.read().decode("utf-8")
    found = {}
    for family in (read_openmetrics if openmetrics else read_prometheus)(text):
        check(family.name not in found, family.name, "comes twice")
        found[family.name] = family
    check_families(found, families, openmetrics)
    check_calls(found, ops)
    check_servers(found, servers)
    samples = sum(len(family.samples) for family in found.values())
    print(f"{sys.argv[1]}: {len(found)} families, {samples} samples read")


if __name__ == "__main__":
    main()
