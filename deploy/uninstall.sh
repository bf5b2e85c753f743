#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ends the service and removes what deploy/install.sh has put there; `make uninstall` calls it:
# uninstall.sh DESTDIR PREFIX SYSCONFDIR UNITDIR ZSHDIR [remove]     remove: fault counts and settings, too
set -eu
dest=$1 prefix=$2 sysconf=$3 units=$4 zsh=$5 state=${6:-}
live=''
[ -n "$dest" ] || [ ! -d /run/systemd/system ] || live=1
if [ "$live" ] && [ -e "$units/xidscope.service" ]; then
	systemctl disable --now --quiet xidscope
fi
for program in "$(dirname "$0")"/*/xidscope-*; do # those that are not were not installed either
	rm -f "$dest$prefix/sbin/${program##*/}" "$dest$prefix/share/man/man8/${program##*/}.8"
done
rm -f "$dest$prefix/sbin/xidscope" "$dest$prefix/share/man/man8/xidscope.8" \
	"$dest$units/xidscope.service" "$dest$prefix/share/bash-completion/completions/xidscope" "$dest$zsh/_xidscope"
rm -rf "$dest$prefix/share/xidscope"
if [ "$live" ]; then
	systemctl daemon-reload
	systemctl reset-failed --quiet xidscope 2>/dev/null || true
fi
if [ "$state" = remove ]; then
	rm -rf "$dest/var/lib/xidscope" "$dest$sysconf/default/xidscope" "$dest$sysconf/systemd/system/xidscope.service.d"
fi
