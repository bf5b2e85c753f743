#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is in the program, by the linker's own map and dpkg:
sbom.py built-using BINARY          the value of a Debian package's field Built-Using
sbom.py spdx BINARY VERSION EPOCH   an SPDX 2.3 document; EPOCH is its time, in seconds
Reads BINARY.map. A file that belongs to no Debian package is an error."""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

# What is included as bytes, and so in no map: see DYGRAPHS in the Makefile.
INCLUDED = ["/usr/share/javascript/dygraphs/dygraph.min.js"]


def die(message):
    sys.exit(f"sbom.py: error: {message}")


def linked_files(path):
    """The archives of which a member was linked in, and the files that are not the program's own."""
    if not os.path.exists(path):
        die(f"{path} is missing: build with make")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    archives = re.findall(r"^(/\S+\.a)\([^)]+\)$", text, re.M)
    objects = re.findall(r"^LOAD (/\S+\.o)$", text, re.M)
    if not archives:
        die(f"{path} names no library: has its form changed?")
    return sorted({os.path.realpath(each) for each in archives + objects + INCLUDED})


def dpkg(command, *words):
    done = subprocess.run([command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        die(done.stderr.strip())
    return done.stdout


def linked_packages(binary):
    """Rows of package, version, source package, its version and architecture, sorted."""
    names = set()
    for file in linked_files(binary + ".map"):
        names.add(dpkg("dpkg-query", "-S", file).rpartition(": ")[0].split(", ")[0])
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Architecture}\n"
    return [line.split("\t") for line in sorted(dpkg("dpkg-query", "-W", "-f", form, *names).splitlines())]


def spdx(binary, version, epoch):
    with open(binary, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    licence = "GPL-2.0-only OR BSD-2-Clause"
    program = {"SPDXID": "SPDXRef-xidscope", "name": "xidscope", "versionInfo": version,
               "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
               "licenseDeclared": licence, "copyrightText": "Copyright (c) 2026 The xidscope authors",
               "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    packages, relations = [program], [("SPDXRef-DOCUMENT", "DESCRIBES", program["SPDXID"])]
    for name, its_version, source, source_version, architecture in linked_packages(binary):
        packages.append({
            "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": its_version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "sourceInfo": f"built from the Debian source package {source} {source_version}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name.replace('+', '%2B')}@"
                                                  f"{its_version.replace('+', '%2B')}?arch={architecture}"}]})
        how = "CONTAINS" if name.startswith("libjs-") else "STATIC_LINK"
        relations.append((program["SPDXID"], how, packages[-1]["SPDXID"]))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"xidscope-{version}", "documentNamespace": f"urn:sha256:{digest}",
            "creationInfo": {"created": created, "creators": ["Tool: xidscope-sbom.py"]}, "packages": packages,
            "relationships": [dict(zip(("spdxElementId", "relationshipType", "relatedSpdxElement"), each))
                              for each in relations]}


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "built-using":
        sources = {f"{source} (= {version})" for _, _, source, version, _ in linked_packages(sys.argv[2])}
        print(", ".join(sorted(sources)))
    elif len(sys.argv) == 5 and sys.argv[1] == "spdx":
        print(json.dumps(spdx(*sys.argv[2:]), indent=1))
    else:
        sys.exit(__doc__)


main()
