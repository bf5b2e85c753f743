#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes the RPM from the Debian package, whose files and description it has; `make rpm` calls it: rpm.sh DEB EPOCH OUT
# The same package gives the same bytes. tests/release/rpm.sh has what differs between the two.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
deb=$(realpath "$1") out=$(realpath -m "$3")
export SOURCE_DATE_EPOCH=$2 LC_ALL=C.UTF-8 TZ=UTC
umask 022
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-rpm.XXXXXX")
trap 'rm -rf "$dir"' EXIT
field() { dpkg-deb -f "$deb" "$1"; }
# quietly HINT COMMAND...
quietly() {
	"${@:2}" >"$dir/log" 2>&1 || {
		tail -n 25 "$dir/log" >&2
		echo "rpm.sh: error: $2: $1" >&2
		exit 1
	}
}

# The places that RHEL has for the same files.
tree=$dir/tree
dpkg-deb -x "$deb" "$tree"
mv "$tree/lib" "$tree/usr/lib"
mv "$tree/etc/default" "$tree/etc/sysconfig"
sed -i 's,/etc/default/xidscope,/etc/sysconfig/xidscope,g' "$tree/etc/sysconfig/xidscope" \
	"$tree/usr/lib/systemd/system/xidscope.service" "$tree"/usr/share/xidscope/systemd/*
changes=$(gunzip -c "$tree/usr/share/doc/xidscope/changelog.gz" | dpkg-parsechangelog -l- -S Changes)
rm -r "$tree/usr/share/lintian" "$tree/usr/share/doc/xidscope"/{changelog.gz,copyright}
install -D -m 644 -t "$tree/usr/share/licenses/xidscope" "$here"/../LICENSE "$here"/../LICENSES/*

# What rpm/xidscope.spec includes: its own folders and all files; the description, what is linked in, what is new.
(
	cd "$tree"
	find usr/share/xidscope usr/share/{doc,licenses}/xidscope -type d -printf '%%dir "/%p"\n'
	find . ! -type d -printf '"/%P"\n' | sed 's,^"/etc/,%config(noreplace) &,; s,^"/usr/share/licenses/,%license &,'
) | sort >"$dir/files"
{
	printf 'Version: %s\nPackager: %s\n' "$(field Version)" "$(field Maintainer)"
	field Built-Using | tr ',' '\n' | sed -nE 's/^ *([^ ]+) \(= (.*)\)$/Provides: bundled(\1) = \2/p'
	printf '%%description\n'
	field Description | sed '1d; s/^ \.\?//; s/%/%%/g'
	printf '%%changelog\n* %s %s - %s-1\n' "$(date -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')" "$(field Maintainer)" "$(field Version)"
	sed -n 's/^  \* /- /p; s/^    /  /p' <<<"${changes//%/%%}"
} >"$dir/text"
machine=$(field Architecture | sed 's/amd64/x86_64/; s/arm64/aarch64/')
quietly "'make rpm' installs what is missing" rpmbuild -bb --target "$machine-linux" --define "_topdir $dir" "$here/rpm/xidscope.spec"
rpm=$(echo "$dir/RPMS/$machine"/*.rpm)
checked='not checked: rpmlint is not installed'
if command -v rpmlint >/dev/null; then
	quietly "see above" rpmlint --rpmlintrc "$here/rpm/xidscope.rpmlintrc" "$rpm"
	checked="rpmlint $(rpmlint --version) finds no error"
fi
mkdir -p "$out"
mv "$rpm" "$out/"
echo "$out/${rpm##*/}: $checked"
