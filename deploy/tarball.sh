#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packs what has been built for other distributions, to be unpacked in /: tarball.sh BUILD ARCHIVE
# The unit works without the settings, so that none are replaced. Of the time SOURCE_DATE_EPOCH (0).
set -euo pipefail
tree=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-tarball.XXXXXX")
trap 'rm -rf "$tree"' EXIT
umask 022
export LC_ALL=C.UTF-8
"$(dirname "$0")/install.sh" "$1" "$tree" /usr/local /etc /usr/local/lib/systemd/system
rm -r "${tree:?}/etc"
(cd "$tree" && find . -type f -printf '%P\n' | sort) |
	tar --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -C "$tree" --no-recursion -T - -c | gzip -n9 >"$2"
