#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs what has been built; `make install` calls it: install.sh BUILD DESTDIR PREFIX SYSCONFDIR UNITDIR ZSHDIR
# Settings that are there already stay. deploy/uninstall.sh removes the rest.
set -eu
build=$1 dest=$2 prefix=$3 sysconf=$4 units=$5 zsh=$6
cd "$(dirname "$0")/.."

# place MODE FILE TARGET: with the folders of this installation in it, if it is a text.
place() {
	install -D -m "$1" "$2" "$dest$3"
	sed "s|@PREFIX@|$prefix|g; s|@SYSCONFDIR@|$sysconf|g; s|/usr/local/sbin/xidscope|$prefix/sbin/xidscope|g" "$2" >"$dest$3"
}
install -D -m 755 "$build/xidscope" "$dest$prefix/sbin/xidscope"
place 644 docs/xidscope.8 "$prefix/share/man/man8/xidscope.8"
place 644 deploy/systemd/xidscope.service "$units/xidscope.service"
[ -e "$dest$sysconf/default/xidscope" ] || place 644 deploy/systemd/xidscope.default "$sysconf/default/xidscope"
place 644 "$build/completions/xidscope" "$prefix/share/bash-completion/completions/xidscope"
place 644 "$build/completions/_xidscope" "$zsh/_xidscope"

# Whole folders, but what only the source needs. Programs among them can be called by name, too.
for file in CHANGELOG.md docs/*.md $(find deploy/* -mindepth 1 -type f); do
	case $file in
	deploy/container/* | deploy/debian/* | *.sh | */*_test.* | */xidscope.service | */xidscope.default) continue ;;
	deploy/*/xidscope-*)
		if [ -x "$file" ]; then
			place 755 "$file" "$prefix/sbin/${file##*/}"
			printf '.so man8/xidscope.8\n' >"$dest$prefix/share/man/man8/${file##*/}.8"
			continue
		fi
		;;
	esac
	place 644 "$file" "$prefix/share/xidscope/${file#deploy/}"
done
if [ -z "$dest" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
