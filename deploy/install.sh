#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs what has been built; `make install` calls it: install.sh BUILD DESTDIR PREFIX SYSCONFDIR UNITDIR
# Settings that are there already stay. What it installs is listed in PREFIX/share/xidscope/installed-VERSION, by which
# deploy/uninstall.sh, installed beside it, removes it, and what other versions have left.
set -eu
umask 022
build=$1 dest=$2 prefix=$3 sysconf=$4 units=$5
cd "$(dirname "$0")/.."
version=$(sed -n 's/^## \[\([0-9.]*\)].*/\1/p' CHANGELOG.md | head -n 1)
listed=$prefix/share/xidscope/installed-$version
list=$dest$listed
mkdir -p "${list%/*}"
# What was built earlier from the same version may have had other files.
if [ -e "$list" ]; then
	mv "$list" "$list-before"
	echo "$listed-before" >>"$list-before"
fi
echo "$listed" >"$list"

# place MODE FILE TARGET
place() {
	install -D -m "$1" "$2" "$dest$3"
	echo "$3" >>"$list"
}
place 755 "$build/xidscope" "$prefix/sbin/xidscope"
place 644 docs/xidscope.8 "$prefix/share/man/man8/xidscope.8"
place 644 deploy/systemd/xidscope.service "$units/xidscope.service"
place 644 deploy/xidscope.bash "$prefix/share/bash-completion/completions/xidscope"
place 755 deploy/uninstall.sh "$prefix/share/xidscope/uninstall.sh"
if [ ! -e "$dest$sysconf/default/xidscope" ]; then
	install -D -m 644 deploy/systemd/xidscope.default "$dest$sysconf/default/xidscope"
fi

# Whole folders, but what only the source needs. Programs among them can be called by name.
for file in README.md SECURITY.md CHANGELOG.md LICENSE LICENSES/* docs/*.md docs/trace.schema.json $(find deploy/* -mindepth 1 -type f | sort); do
	case $file in
	deploy/container/* | deploy/debian/* | deploy/helm/* | deploy/rpm/* | *.sh | */*_test.* | */xidscope.service) continue ;;
	deploy/*/xidscope-*)
		if [ -x "$file" ]; then
			place 755 "$file" "$prefix/sbin/${file##*/}"
			continue
		fi
		;;
	esac
	place 644 "$file" "$prefix/share/xidscope/${file#deploy/}"
done

# Texts have the folders of this installation.
sed '1d; /\/sbin\/xidscope$/d; s|^/||' "$list" | (
	cd "$dest/"
	xargs -d '\n' grep -lE '@(PREFIX|SYSCONFDIR|VERSION)@|/usr/local/sbin/xidscope' | xargs -d '\n' \
		sed -i "s|@PREFIX@|$prefix|g; s|@SYSCONFDIR@|$sysconf|g; s|@VERSION@|$version|g; s|/usr/local/sbin/xidscope|$prefix/sbin/xidscope|g"
)

sh "$dest$prefix/share/xidscope/uninstall.sh" --others "$prefix" "$dest"

# The folders of deploy/ are beside docs/ now. A link to what only the source has becomes text.
sed -n '/\.md$/s|^/||p' "$list" | (cd "$dest/" && xargs -d '\n' sed -i -E 's,\]\((\.\./)?deploy/,](\1,g; s,\]\(\.\./\.\./,](../,g')
grep '\.md$' "$list" | while read -r page; do
	grep -oE '\]\([^):#][^):]*\)' "$dest$page" | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
		[ -e "$dest${page%/*}/${link%%#*}" ] || sed -i "s|!*\[\([^]]*\)\]($link)|\1|g" "$dest$page"
	done
done
if [ -z "$dest" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
