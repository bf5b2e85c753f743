#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that installs, upgrades, downgrades and removes the RPM in a guest, with systemd as process 1, by the commands
# of docs/DEPLOY.md: prepare.sh JOBDIR. Needs what `make rpm` leaves.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
. "$here/../lib.sh"
root=$(realpath "$here/../../..")
job=$1
version=$("$root/build/xidscope" version | sed 's/.* //')
rpm=$root/build/rpm/xidscope-$version-1.x86_64.rpm deb=$root/build/deb/xidscope_${version}_amd64.deb
[[ -e $rpm && -e $deb ]] || die "$rpm is missing: run 'make rpm'"
mkdir -p "$job/root/usr/local/bin"
cp "$here/dnf" "$job/root/usr/local/bin/"
cp "$here/../systemd/systemd-lib.sh" "$here/../deploy-lib.sh" "$rpm" "$job/"
cp "$here/guest.sh" "$job/run.sh"
echo "$version" >"$job/version"

documented() { "$root/tests/docs/commands.sh" "${@:2}" >"$job/$1"; }
documented install 'RHEL, Rocky, Alma' 1 "VERSION=$version" DIRECTORY=/srv/text
documented upgrade 'Upgrade and rollback' 4 "VERSION=$version+1" "OLDER=$version"
documented remove 'Uninstall' 5
sed -n 2p "$job/upgrade" >"$job/downgrade"
sed -i 2d "$job/upgrade"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dpkg-deb -R "$deb" "$work/later"
sed -i "s/^Version: .*/Version: $version+1/" "$work/later/DEBIAN/control"
dpkg-deb --root-owner-group -b "$work/later" "$work/later.deb" >/dev/null
"$root/deploy/rpm.sh" "$work/later.deb" "$(rpm -qp --qf '%{BUILDTIME}' "$rpm")" "$job" >&2
: >"$job/systemd"
