#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that installs, upgrades, rolls back and purges the Debian package in a guest, with systemd as process 1, by
# the commands of docs/DEPLOY.md: prepare.sh JOBDIR. Needs what `make deb` leaves.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
. "$here/../upgrade-job.sh"
deb=$(compgen -G "$root/build/deb/xidscope_*_amd64.deb") || die "no package in build/deb: run 'make deb'"
mkdir -p "$job/root"
cp "$here/../systemd/systemd-lib.sh" "$root"/tests/vm/{deploy,upgrade}-lib.sh "$root/deploy/debian/tests/agent" "$job/"
cp "$here/guest.sh" "$job/run.sh"
cp "$deb" "$job/"
echo "$version" >"$job/version"

documented install 'Debian' 1 "VERSION=$version"
documented install-older 'Debian' 1 "VERSION=$older"
documented is-it-on 'Is it on?' 1
documented drill 'Is it on?' 2 ADDRESS=00000000:C1:00.0
documented upgrade 'Upgrade and rollback' 1 "VERSION=$version" "OLDER=$older"
documented remove 'Uninstall' 1
for file in upgrade:rollback remove:purge; do # two ways, a line each
	sed -n 2p "$job/${file%:*}" >"$job/${file#*:}"
	sed -i 2d "$job/${file%:*}"
done
sed "s/_$version/&+1/" "$job/upgrade" >"$job/upgrade-newer"

# repacked VERSION COMMAND...: the package with another version, after COMMAND in its unpacked tree.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
repacked() {
	rm -rf "$work/tree"
	dpkg-deb -R "$deb" "$work/tree"
	sed -i "s/^Version: .*/Version: $1/" "$work/tree/DEBIAN/control"
	(cd "$work/tree" && "${@:2}")
	(cd "$work/tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | xargs -0 md5sum >DEBIAN/md5sums)
	dpkg-deb --root-owner-group -b "$work/tree" "$job/xidscope_$1_amd64.deb" >/dev/null
}
as_older() { cp "$root/build/older/xidscope" usr/sbin/; }
newer() { echo '# a comment of a later version' >>etc/default/xidscope; }
repacked "$older" as_older
repacked "$version+1" newer
: >"$job/systemd"
