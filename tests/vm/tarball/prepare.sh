#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that installs, upgrades, rolls back and removes the tarball in a guest, with systemd as process 1, by the
# commands of docs/DEPLOY.md: prepare.sh JOBDIR. Needs what `make previous` leaves.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/vm/previous-lib.sh
. "$here/../previous-lib.sh"
version=$("$root/build/xidscope" version)
version=${version##* }
mkdir -p "$job/root"
cp "$here/../unit/unit-lib.sh" "$root"/tests/vm/{deploy,upgrade}-lib.sh "$job/"
cp "$here/guest.sh" "$job/run.sh"
echo "$version" >"$job/version"
echo "$previous" >"$job/previous"
make --no-print-directory -C "$root" completions >/dev/null
"$root/deploy/tarball.sh" "$root/build" "$job/xidscope-$version-amd64.tar.gz"
# The version before was installed into /usr/local by `make install`, with no more files than these.
make --no-print-directory -C "$before/source" install DESTDIR="$job/tree" >/dev/null
tar -C "$job/tree" -czf "$job/xidscope-$previous-amd64.tar.gz" usr
rm -r "$job/tree"

documented install 'Other distributions' 1 "VERSION=$version" DIRECTORY=/srv/text-files
documented upgrade 'Upgrade and rollback' 2 "VERSION=$version"
documented rollback 'Upgrade and rollback' 2 "VERSION=$previous"
documented uninstall 'Uninstall' 2
: >"$job/systemd"
