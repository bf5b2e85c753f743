#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Pushes a packed chart, and artifacthub-repo.yml if there is an ID for it; prints the chart's digest:
# push.sh HELM ARCHIVE REGISTRY/charts [ID]     Who pushes is logged in, of helm and of skopeo. PLAIN=1: without TLS
set -euo pipefail
helm=$1 archive=$2 charts=$3 id=${4:-}
here=$(dirname "$(realpath "$0")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
"$helm" push ${PLAIN:+--plain-http} "$archive" "oci://$charts" >"$tree/log" 2>&1 || { cat "$tree/log" >&2 && exit 1; }
sed -n 's/^Digest: *//p' "$tree/log"
[[ $id ]] || exit 0
# blob KIND: puts standard input there, and prints how a manifest names it.
blob() {
	local digest
	cat >"$tree/blob"
	digest=$(sha256sum <"$tree/blob" | cut -d' ' -f1)
	echo "{\"mediaType\":\"application/vnd.$1\",\"digest\":\"sha256:$digest\",\"size\":$(stat -c %s "$tree/blob")}"
	mv "$tree/blob" "$tree/blobs/sha256/$digest"
}
mkdir -p "$tree/blobs/sha256"
config=$(blob cncf.artifacthub.config.v1+yaml </dev/null)
layer=$(sed "s/^repositoryID: .*/repositoryID: $id/" "$here/artifacthub-repo.yml" | blob cncf.artifacthub.repository-metadata.layer.v1.yaml)
manifest=$(echo "{\"schemaVersion\":2,\"config\":$config,\"layers\":[$layer]}" | blob oci.image.manifest.v1+json)
echo "{\"schemaVersion\":2,\"manifests\":[$manifest]}" >"$tree/index.json"
echo '{"imageLayoutVersion":"1.0.0"}' >"$tree/oci-layout"
skopeo copy --quiet "oci:$tree" "docker://$charts/xidscope:artifacthub.io"
