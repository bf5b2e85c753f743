#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that systemd accepts the unit as `make install` writes it, without a warning, and that its exposure is no more than
# README.md says.
set -euo pipefail

die() {
	echo "check.sh: error: $*" >&2
	exit 1
}
root=$(realpath "$(dirname "$0")/../..")
type -P systemd-analyze >/dev/null || die "systemd-analyze is missing: install the Debian package systemd"
[[ -x $root/build/xidscope ]] || die "build/xidscope is missing: run 'make' first"

dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-unit.XXXXXX")
trap 'rm -rf "$dir"' EXIT
make --no-print-directory -C "$root" install PREFIX="$dir" UNITDIR="$dir" SYSCONFDIR="$dir/etc" >/dev/null
! grep -rn '@[A-Z]*@' "$dir/xidscope.service" "$dir/etc" || die "a placeholder is left that 'make install' does not replace"

# systemd-analyze succeeds even with unknown settings, so each line about this unit is an error here. --man=no: the man
# page is not installed yet.
systemd-analyze verify --man=no "$dir/xidscope.service" >"$dir/log" 2>&1 || die "$(cat "$dir/log")"
! grep -F xidscope "$dir/log" >&2 || die "systemd complains, see above"
# The example's program is not installed here.
sed "s|^ExecStart=[^ ]*|ExecStart=/bin/true|" "$root/deploy/systemd/xidscope-exporter.service" >"$dir/xidscope-exporter.service"
systemd-analyze verify --man=no "$dir/xidscope-exporter.service" >"$dir/log" 2>&1 || die "$(cat "$dir/log")"
! grep -F xidscope "$dir/log" >&2 || die "systemd complains about the example, see above"
security=$(systemd-analyze security --offline=yes "$dir/xidscope.service" | tail -1)
exposure=$(grep -oE '[0-9]+\.[0-9]' <<<"$security")
grep -q "exposure of $exposure " "$root/deploy/systemd/README.md" || die "README.md names another exposure than $exposure"
echo "the unit is valid; $(tr -cd '[:print:]' <<<"${security#*Overall}")"
