#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that installs, upgrades, rolls back and removes the tarball in a guest, with systemd as process 1, by the
# commands of docs/DEPLOY.md: prepare.sh JOBDIR
set -euo pipefail
here=$(realpath "$(dirname "$0")")
. "$here/../upgrade-job.sh"
mkdir -p "$job/root"
cp "$here/../systemd/systemd-lib.sh" "$root"/tests/vm/{deploy,upgrade}-lib.sh "$job/"
cp "$here/guest.sh" "$job/run.sh"
echo "$version" >"$job/version"
echo "$older" >"$job/older"
"$root/deploy/tarball.sh" "$root/build" "$job/xidscope-$version-amd64.tar.gz"
# The version is that of CHANGELOG.md beside the scripts.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp -r "$root"/{*.md,LICENSE,LICENSES,docs,deploy} "$tree"
sed -i "s/^## \[$version]/## [$older]/" "$tree/CHANGELOG.md"
"$tree/deploy/tarball.sh" "$root/build/older" "$job/xidscope-$older-amd64.tar.gz"

documented install 'Other distributions' 1 "VERSION=$version" DIRECTORY=/srv/text-files
documented upgrade 'Upgrade and rollback' 2 "VERSION=$version"
documented rollback 'Upgrade and rollback' 2 "VERSION=$older"
documented uninstall 'Uninstall' 2
: >"$job/systemd"
