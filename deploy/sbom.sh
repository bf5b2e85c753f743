#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is in the program, by the linker's own map and dpkg:
# sbom.sh built-using BINARY          the value of a Debian package's field Built-Using
# sbom.sh spdx BINARY VERSION EPOCH   an SPDX 2.3 document; EPOCH is its time, in seconds
# Reads BINARY.map. A file that belongs to no Debian package is an error.
set -euo pipefail
export LC_ALL=C
binary=$2 map=$2.map
die() {
	echo "sbom.sh: error: $*" >&2
	exit 1
}
# What is included as bytes, and so in no map: see DYGRAPHS in the Makefile.
included=/usr/share/javascript/dygraphs/dygraph.min.js

[[ -e $map ]] || die "$map is missing: build with make"
grep -qE '^/\S+\.a\([^)]+\)$' "$map" || die "$map names no library: has its form changed?"
# The archives of which a member was linked in, and the files that are not the program's own.
files=$({ sed -nE 's/^(\/\S+\.a)\([^)]+\)$/\1/p; s/^LOAD (\/\S+\.o)$/\1/p' "$map" && echo "$included"; } | xargs realpath | sort -u)
owners=$(xargs dpkg-query -S <<<"$files") || die "see above"
names=$(sed 's/: \/.*//; s/, .*//' <<<"$owners" | sort -u)
# rows FORMAT: a line for each package.
rows() { xargs dpkg-query -W -f "$1\n" <<<"$names" | sort -u; }

spdx() { # VERSION EPOCH
	local licence='GPL-2.0-only OR BSD-2-Clause' digest unknown='"downloadLocation": "NOASSERTION", "filesAnalyzed": false'
	local packages='' relations='' id name version source source_version architecture how
	digest=$(sha256sum <"$binary")
	digest=${digest%% *}
	while IFS=$'\t' read -r name version source source_version architecture; do
		id=SPDXRef-${name//[^A-Za-z0-9.-]/-} how=STATIC_LINK
		[[ $name != libjs-* ]] || how=CONTAINS
		packages+=",
  {\"SPDXID\": \"$id\", \"name\": \"$name\", \"versionInfo\": \"$version\", $unknown,
   \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\",
   \"sourceInfo\": \"built from the Debian source package $source $source_version\",
   \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\",
    \"referenceLocator\": \"pkg:deb/debian/${name//+/%2B}@${version//+/%2B}?arch=$architecture\"}]}"
		relations+=",
  {\"spdxElementId\": \"SPDXRef-xidscope\", \"relationshipType\": \"$how\", \"relatedSpdxElement\": \"$id\"}"
	done <<<"$(rows '${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Architecture}')"
	cat <<END
{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "xidscope-$1",
 "documentNamespace": "urn:sha256:$digest",
 "creationInfo": {"created": "$(date -u -d "@$2" +%FT%TZ)", "creators": ["Tool: xidscope-sbom.sh"]},
 "packages": [
  {"SPDXID": "SPDXRef-xidscope", "name": "xidscope", "versionInfo": "$1", $unknown,
   "licenseConcluded": "$licence", "licenseDeclared": "$licence", "copyrightText": "Copyright (c) 2026 The xidscope authors",
   "checksums": [{"algorithm": "SHA256", "checksumValue": "$digest"}]}$packages],
 "relationships": [
  {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-xidscope"}$relations]}
END
}

case $1 in
built-using) rows '${source:Package} (= ${source:Version})' | paste -sd, | sed 's/,/, /g' ;;
spdx) spdx "$3" "$4" ;;
*) die "see the head of this file" ;;
esac
