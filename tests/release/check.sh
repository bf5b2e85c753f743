#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that `make release` in two clones, in folders of different names and orders, gives the same bytes, and that what it
# gives works: image, manifests, tarball, packages in chroots, and the source package built in a clean one. check.sh VERSION
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
version=$1
. "$here/../vm/lib.sh"
((!EUID)) || die "chroots need root"
# Mounts are this process' own: they end with it, even if it is killed.
[[ ${OWN_MOUNTS:-} ]] || OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
cd "$root"
git diff --quiet HEAD || say "what is not committed is not part of this test"
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-release-check.XXXXXX")
trap 'umount --lazy "$dir/another-name" 2>/dev/null; rm -rf "$dir"' EXIT
mkdir "$dir/another-name"
mount -t tmpfs -o size=2G tmpfs "$dir/another-name" # which lists the files of a folder in another order
git clone --quiet "$root" "$dir/one"
git clone --quiet "$dir/one" "$dir/another-name" # the same commit
for clone in one another-name; do
	! [[ -e .cache ]] || ln -s "$(realpath .cache)" "$dir/$clone/.cache"
	make --no-print-directory -C "$dir/$clone" release >"$dir/$clone.log" 2>&1 || {
		tail -n 20 "$dir/$clone.log" >&2
		die "make release fails"
	}
done
release=$dir/one/build/release
diff -r "$release" "$dir/another-name/build/release" || die "two releases differ, see above"
for file in xidscope_"$version"_{amd64,arm64}.deb xidscope_"$version".dsc xidscope-"$version"-1.{x86_64,aarch64}.rpm xidscope-"$version"-{amd64,arm64}.{tar.gz,spdx.json} \
	xidscope-"$version"-oci.tar manifests/xidscope.yaml manifests/prometheus-alerts.yaml rules/alerts.yaml dashboards/fleet.json CHANGELOG.md; do
	[[ -s $release/$file ]] || die "$file is missing"
done
(cd "$release" && sha256sum --quiet -c SHA256SUMS && tar -xzOf "xidscope-$version-manifests.tar.gz" manifests/xidscope.yaml | cmp - manifests/xidscope.yaml)
echo "two releases in two folders have the same $(wc -l <"$release/SHA256SUMS") files"
"$here/sbom.py" "$release"/*.spdx.json
"$here/image.sh" "$release" "$version"
"$root/tests/kubernetes/check.sh" "$release/manifests"
"$here/rpm.sh" "$release" "$version"
"$here/chroot.sh" "$release" "$version"
