#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the Debian package and checks it with lintian, if that is installed; `make deb` calls it: debian.sh ARCHITECTURE VERSION EPOCH OUT
# The source is that of a git clone, as it stands in the work tree. What is in OUT afterwards: source and binary packages.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
arch=$1 version=$2 out=$4
export SOURCE_DATE_EPOCH=$3
die() {
	echo "debian.sh: error: $*" >&2
	exit 1
}
git rev-parse >/dev/null || die "build in a clone, with git installed, or with dpkg-buildpackage from the source package"

# In a folder of the same name each time, whose place the compilers leave out.
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-deb.XXXXXX")
trap 'rm -rf "$dir"' EXIT
tree=$dir/xidscope-$version
mkdir "$tree"
git ls-files -z --cached --others --exclude-standard ':!.ci' | tar -c --null --files-from=- --ignore-failed-read | tar -C "$tree" -x
mv "$tree/deploy/debian" "$tree/debian"
chmod -R u=rwX,go=rX "$tree"
[[ ! ${MAINTAINER:-} ]] || sed -i "s/^Maintainer: .*/Maintainer: $MAINTAINER/" "$tree/debian/control"
{ # Debian's form of the first release in CHANGELOG.md
	echo "xidscope ($version) unstable; urgency=medium"
	awk '/^## / { part++; next } /^#/ { next } part == 1' CHANGELOG.md | tr -s '\n ' ' ' | sed 's/ - /\n\n/g' |
		fold -s -w 74 | awk 'NF { print (new ? "  * " : "    ") $0; new = 0; next } { print ""; new = 1 }' | sed 's/ *$//'
	printf '\n -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' "$tree/debian/control")" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | cat -s >"$tree/debian/changelog"

mkdir -p "$out"
build=(dpkg-buildpackage --no-sign "--host-arch=$arch")
if [[ $arch == "$(dpkg --print-architecture)" ]]; then
	build+=(--build=full)
else
	# crossbuild-essential is more than the project's Makefile needs.
	build+=(--build=any '-Pcross,nocheck' -d)
fi
(cd "$tree" && "${build[@]}") >"$out/build-$arch.log" 2>&1 || {
	tail -n 25 "$out/build-$arch.log" >&2
	die "dpkg-buildpackage failed: see $out/build-$arch.log"
}
checked='not checked: lintian is not installed' # it needs 126 packages, which building does not
if command -v lintian >/dev/null; then
	# What it would print as E: or W: is a failure.
	lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$dir/xidscope_${version}_$arch.changes" >&2 ||
		die "lintian objects, see above"
	checked="lintian $(lintian --version | grep -o '[0-9].*') has no objection"
fi
# Not those that name this machine's packages: *.buildinfo and *.changes.
mv "$dir"/*.deb "$out/"
[[ $arch != "$(dpkg --print-architecture)" ]] || mv "$dir"/*.dsc "$dir"/*.tar.xz "$out/"
echo "$out/xidscope_${version}_$arch.deb: $checked"
