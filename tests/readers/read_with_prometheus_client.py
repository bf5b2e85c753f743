#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the Python reference parsers read families and labels of a sample file as they were meant:
the strict OpenMetrics one, or the one for Prometheus text.

Usage: read_with_prometheus_client.py openmetrics|prometheus FACTS <FILE
FACTS is what `write_sample facts DETAIL` writes.
"""

import re
import sys

from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as read_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as read_prometheus
from prometheus_client.utils import floatToGoString


def label(raw):
    """What label_from_bytes() should make of raw bytes, by other means."""
    text = raw.decode("utf-8", errors="surrogateescape")
    text = re.sub(r"\\(?=x[0-9a-fA-F]{2})", r"\\x5c", text)
    unsafe = re.compile("[\0-\x1f\x7f-\x9f\u2028\u202e\udc80-\udcff]")
    return unsafe.sub(lambda c: "".join(f"\\x{b:02x}" for b in c[0].encode("utf-8", "surrogateescape")), text)


def read_facts(path):
    families, servers = {}, []
    with open(path, encoding="utf-8") as facts:
        for line in facts:
            kind, *words = line.rstrip("\n").split("\t")
            if kind == "family":
                families[words[0]] = words[1:]
            elif kind == "server":
                servers.append(label(bytes.fromhex(words[0])))
            else:
                sys.exit(f"{path}: {kind}?")
    return families, servers


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


def check_servers(found, servers):
    """Names come back as they went in."""
    check(len(set(servers)) == len(servers), servers)
    for name, family in found.items():
        seen = {s.labels["server"] for s in family.samples if "server" in s.labels}
        if seen:
            check(seen == set(servers), name, seen ^ set(servers))


def main():
    openmetrics = sys.argv[1] == "openmetrics"
    families, servers = read_facts(sys.argv[2])
    text = sys.stdin.buffer.read().decode("utf-8")
    found = {}
    for family in (read_openmetrics if openmetrics else read_prometheus)(text):
        check(family.name not in found, family.name, "comes twice")
        found[family.name] = family
    check_families(found, families, openmetrics)
    check_servers(found, servers)
    samples = sum(len(family.samples) for family in found.values())
    print(f"{sys.argv[1]}: {len(found)} families, {samples} samples read")


if __name__ == "__main__":
    main()
