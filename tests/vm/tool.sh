#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints the path of FILE taken out of a Debian PACKAGE, without installing it: tool.sh PACKAGE FILE [ARCHITECTURE]
set -euo pipefail
. "$(dirname "$0")/lib.sh"

(($# == 2 || $# == 3)) || die "usage: tool.sh PACKAGE FILE [ARCHITECTURE], e.g. tool.sh prometheus usr/bin/promtool"
package=$1 file=${2#/} arch=${3:-$(dpkg --print-architecture)}
dir=$cache/tools/$arch/$package

[[ -e $dir/$file ]] || lock "tool-$arch-$package"
if [[ ! -e $dir/$file ]]; then
	apt_root "$debian" "$arch" || die "cannot fetch $package: no network, and no copy in $cache"
	mkdir -p "$dir"
	tmp=$(mktemp -d "$dir/.new.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	say "fetching $package"
	(cd "$tmp" && apt-get "${apt_options[@]}" download "$package") || die "cannot download $package"
	dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -C "$tmp" -x "./$file" || die "$package has no file $file"
	mkdir -p "$(dirname "$dir/$file")"
	mv "$tmp/$file" "$dir/$file"
fi
echo "$dir/$file"
