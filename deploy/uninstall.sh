#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ends the service and removes what `make install` or the tarball has put there:
# uninstall.sh [--state | --others] [PREFIX [DESTDIR [SYSCONFDIR]]]      PREFIX: /usr/local. SYSCONFDIR: /etc.
# --state: also fault counts, acknowledgements, settings and drop-ins. --others: only files of other versions that this one,
# installed over them, does not have; the service runs on.
set -eu
what=''
case ${1:-} in
--*)
	what=$1
	shift
	;;
esac
prefix=${1:-/usr/local} dest=${2:-} sysconf=${3:-/etc}
share=$dest$prefix/share/xidscope
set -- "$share"/installed-*
if [ ! -e "$1" ]; then
	echo "uninstall.sh: error: $1 is missing: nothing is installed there" >&2
	exit 1
fi
# remove_files: those whose names it reads, and folders that are empty then.
remove_files() {
	while read -r file; do
		rm -f "$dest$file"
	done
	find "$share" -depth -type d -exec rmdir --ignore-fail-on-non-empty {} +
}
case $what in
--others)
	cat "$@" | grep -vxFf "$share/installed-@VERSION@" | remove_files
	exit
	;;
--state | '') ;;
*)
	echo "uninstall.sh: error: $what: --state and --others are there" >&2
	exit 1
	;;
esac

live=''
if [ -z "$dest" ] && [ -d /run/systemd/system ]; then
	live=1
	systemctl disable --now --quiet xidscope
fi
cat "$@" | remove_files
if [ "$live" ]; then
	systemctl daemon-reload
	systemctl reset-failed xidscope 2>/dev/null || true
fi
rm -rf "$dest/run/xidscope"
left=''
for each in /var/lib/xidscope /etc/xidscope "$sysconf/default/xidscope" /etc/systemd/system/xidscope.service.d; do
	[ -e "$dest$each" ] || continue
	if [ "$what" ]; then
		rm -rf "$dest$each"
	else
		left="$left '$dest$each'"
	fi
done
if [ "$left" ]; then
	echo "uninstall.sh: fault counts, acknowledgements and settings stay; to remove them: rm -r$left"
fi
