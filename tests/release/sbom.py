#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that SPDX documents have what SPDX 2.3 requires, name the libraries that are linked in, with their versions,
and refer only to what they contain: sbom.py FILE..."""
import json
import re
import sys


def check(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    for field in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace"):
        assert document[field], f"{path}: no {field}"
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    assert document["creationInfo"]["creators"] and re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"])
    ids = [each["SPDXID"] for each in document["packages"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in ids)
    for each in document["packages"]:
        assert each["name"] and each["downloadLocation"] and each["versionInfo"], f"{path}: {each}"
    for relation in document["relationships"]:
        ends = {relation["spdxElementId"], relation["relatedSpdxElement"]}
        assert ends <= {*ids, "SPDXRef-DOCUMENT"}, f"{path}: {relation}"
    names = {each["name"].partition(":")[0] for each in document["packages"]}
    missing = {"xidscope", "libbpf-dev", "libelf-dev", "zlib1g-dev", "libjs-dygraphs"} - names
    assert not missing and any(each.startswith("libc6-dev") for each in names), f"{path}: {names}"
    return len(names) - 1


print(f"{len(sys.argv) - 1} SBOMs name {', '.join(str(check(each)) for each in sys.argv[1:])} packages each")
