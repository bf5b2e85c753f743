#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ends the service and removes what `make install` or the tarball has put there: uninstall.sh [--state] [PREFIX [DESTDIR]]
# PREFIX: /usr/local. --state: fault counts, settings and drop-ins, too.
set -eu
state=''
if [ "${1:-}" = --state ]; then
	state=1
	shift
fi
prefix=${1:-/usr/local} dest=${2:-}
list=$dest$prefix/share/xidscope/installed
if [ ! -e "$list" ]; then
	echo "uninstall.sh: error: $list is missing: nothing is installed there" >&2
	exit 1
fi
live=''
if [ -z "$dest" ] && [ -d /run/systemd/system ]; then
	live=1
	systemctl disable --now --quiet xidscope
fi
while read -r file; do
	rm -f "$dest$file"
done <"$list"
find "$dest$prefix/share/xidscope" -depth -type d -exec rmdir --ignore-fail-on-non-empty {} +
if [ "$live" ]; then
	systemctl daemon-reload
	systemctl reset-failed xidscope 2>/dev/null || true
fi
if [ "$state" ]; then
	rm -rf "$dest/var/lib/xidscope" "$dest/etc/default/xidscope" "$dest/etc/systemd/system/xidscope.service.d"
fi
