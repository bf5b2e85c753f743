#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that lintian, mandoc and systemd-analyze say of a release what docs/DEPLOY.md shows, by the commands there. What
# piuparts and `make check-manifests` say is compared by chroot.sh and tests/kubernetes/check.sh. tools.sh RELEASE VERSION
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
# shellcheck disable=SC2034 # for need
deps='deps-release'
# shellcheck source=tests/vm/lib.sh
. "$here/../vm/lib.sh"
(($# == 2)) || die "usage: tools.sh RELEASE VERSION"
need lintian mandoc systemd-analyze man
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-tools.XXXXXX")
trap 'rm -rf "$dir"' EXIT
arch=$(dpkg --print-architecture)
cp "$1/xidscope_$2_$arch.deb" "$dir/"
tar -C "$dir" -xzf "$1/xidscope-$2-$arch.tar.gz" --strip-components=2
sed -i "s|/usr/local|$dir|" "$dir/lib/systemd/system/xidscope.service"
cp "$dir/lib/systemd/system/xidscope.service" "$dir/"
ln -s "$root/docs" "$dir/docs"
export LC_ALL=C.UTF-8 MANPATH=$dir/share/man:
cd "$dir"

command='' compared=0
: >said
: >shown
compare() {
	diff shown said || die "docs/DEPLOY.md shows other output of: $command"
}
while IFS= read -r line; do
	if [[ $line != '$ '* ]]; then
		[[ ! $command ]] || echo "$line" >>shown
		continue
	fi
	compare
	command=${line#??}
	case $command in
	piuparts* | make*) command='' && : >said ;;
	*)
		# Whatever it exits with: lintian 2.116 fails if it shows an override. Not what it says about this machine.
		{ bash -c "$command" 2>&1 || true; } | sed '/^running with root privileges/d; /^mandoc: outdated mandoc.db/d' >said
		compared=$((compared + 1))
		;;
	esac
	: >shown
done < <("$here/../docs/commands.sh" 'What was checked' 1)
compare
echo "$compared tools say what docs/DEPLOY.md shows"
