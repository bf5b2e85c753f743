#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Puts all that a release has into one folder, with checksums; `make release` calls it after building:
# release.sh VERSION EPOCH KUBECTL REGISTRY OUT ARCHITECTURE=BUILD...
# From the same files come the same bytes. Packages are taken from build/deb and build/rpm.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
version=$1 kubectl=$3 registry=$4 out=$5
export SOURCE_DATE_EPOCH=$2 TZ=UTC LC_ALL=C.UTF-8
umask 022
shift 5
# It is also a label of the image; an address there must be one that others can reach.
REVISION=$(git rev-parse HEAD)$(git diff --quiet HEAD || echo -modified)
SOURCE_URL=${SOURCE_URL:-$(git config remote.origin.url | grep -E '^https?://' || true)}
# The runbook's, as GitHub has it: of a release, which has a tag.
! git tag --points-at HEAD | grep -qx "v$version" || RUNBOOK=${RUNBOOK:-${SOURCE_URL:+${SOURCE_URL%.git}/blob/v$version/docs/RUNBOOK.md}}
RUNBOOK=${RUNBOOK:-}
export REVISION SOURCE_URL RUNBOOK

work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-release.XXXXXX")
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"

binaries=()
for each; do
	arch=${each%%=*} build=${each#*=}
	mkdir "$work/$arch"
	binaries+=("$work/$arch/xidscope")
	case $arch in # LLVM 14's strip refuses static programs
	amd64) machine=x86_64 ;;
	arm64) machine=aarch64 ;;
	esac
	"$machine-linux-gnu-strip" --strip-all -o "$work/$arch/xidscope" "$build/xidscope"
	cp "$build/xidscope.map" "$work/$arch/"
	deploy/sbom.sh spdx "$work/$arch/xidscope" "$version" "$SOURCE_DATE_EPOCH" >"$out/xidscope-$version-$arch.spdx.json"
	deploy/tarball.sh "$work/$arch" "$out/xidscope-$version-$arch.tar.gz"
	cp build/deb/xidscope_"$version"_"$arch".deb build/rpm/xidscope-"$version"-1."$machine".rpm "$out/"
done
cp build/deb/xidscope_"$version".{dsc,tar.xz} "$out/"
deploy/container/build.sh "$out/xidscope-$version-oci.tar" "${binaries[@]}" >/dev/null
digest=$(tar -xOf "$out/xidscope-$version-oci.tar" index.json | grep -o 'sha256:[0-9a-f]*' | head -n 1)
deploy/kubernetes/render.sh "$kubectl" "$registry/xidscope@$digest" "$version" "$out/manifests"
deploy/helm/package.sh "$version" "$registry/xidscope" "$out/xidscope-$version.tgz"
mkdir "$out/rules"
for file in deploy/prometheus/*; do
	case $file in
	*_test.* | *.sh) ;;
	*) cp -r "$file" "$out/rules/" ;;
	esac
done
runbook=${RUNBOOK//&/\\&}
sed -i "s|file:///[^ ]*/RUNBOOK.md|${runbook:-&}|" "$out/rules/alerts.yaml"
cp -r deploy/grafana "$out/dashboards"
cp CHANGELOG.md "$out/"
# A published release has files, no folders.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX -C "$out" -c manifests rules dashboards |
	gzip -n9 >"$out/xidscope-$version-manifests.tar.gz"
(cd "$out" && sha256sum -- *.*) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$out/"
echo "$out: $(wc -l <"$out/SHA256SUMS") files of version $version, revision $REVISION"
