#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves in chroots, as root: piuparts installs and purges the Debian package in a minimal Debian, its own test (autopkgtest) passes,
# and the source package builds in a clean Debian that has only what it asks for; the tarball runs on other releases of Debian, whose
# systemd accepts the unit, and its uninstaller leaves nothing. Upgrades of the package are tested by tests/vm/package.
# chroot.sh RELEASE VERSION     RELEASE: the folder of `make release`
set -euo pipefail
here=$(realpath "$(dirname "$0")")
release=$(realpath "$1") version=$2
# shellcheck disable=SC2034 # for need
deps='deps-release'
. "$here/../vm/lib.sh"
need mmdebstrap autopkgtest piuparts dpkg-source
arch=$(dpkg --print-architecture)
deb=$release/xidscope_${version}_$arch.deb
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-chroot.XXXXXX")
unset TMPDIR # chroots do not have that folder
chmod 755 "$dir"
cleanup() {
	umount "$dir"/*/proc 2>/dev/null || true
	umount --recursive "$dir"/*/sys 2>/dev/null || true
	rm -rf --one-file-system "$dir"
}
trap cleanup EXIT
quietly() { "$@" >"$dir/log" 2>&1 || { tail -n 15 "$dir/log" >&2; die "'$*' failed, see above"; }; }

# debian_in FOLDER SUITE [OPTION...]
debian_in() {
	say "making a $2 in a folder"
	quietly mmdebstrap --quiet --mode=root --variant=minbase "${@:3}" "$2" "$dir/$1" "deb [signed-by=$keyring] $(mirror) $2 main"
	mount --bind /proc "$dir/$1/proc"
}
listing() { (cd "$dir/$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./tmp -o -path ./run \) -prune -o -printf '%p %u %m %l\n' | sort); }

# ---- the package ----
debian_in small bookworm --include=dpkg-dev,apt-utils # which autopkgtest needs
umount "$dir/small/proc" # it would be copied
# Where apt-utils is installed, apt leaves tmp.ci with each package.
quietly piuparts --tmpdir "$dir" --existing-chroot "$dir/small" --distribution bookworm --mirror "$(mirror) main" --no-adequate \
	--ignore /var/cache/debconf/tmp.ci/ "$deb"
say "$(piuparts --version | head -n 1): $(grep -o 'PASS: All tests' "$dir/log")"
mount --bind /proc "$dir/small/proc"

dpkg-source --no-check -x "$release/xidscope_$version.dsc" "$dir/source" >/dev/null 2>&1
cp "$deb" "$dir/"
quietly autopkgtest --no-built-binaries "$dir/${deb##*/}" "$dir/source" -- chroot "$dir/small"
grep -E '^agent +PASS' "$dir/log" || die "autopkgtest ran no test"

# ---- the source package ----
depends=$(sed -n 's/^Build-Depends: //p' "$release/xidscope_$version.dsc" | tr ',' '\n' | grep -v '<cross>' | sed 's/debhelper-compat.*/debhelper/; s/:.*//; s/ //g' | paste -sd,)
debian_in clean bookworm --variant=buildd --include="$depends"
cp -r "$dir/source" "$dir/clean/tmp/source"
quietly chroot "$dir/clean" bash -c 'cd /tmp/source && dpkg-buildpackage --no-sign --build=binary'
built=$dir/clean/tmp/xidscope_${version}_$arch.deb
diff <(dpkg-deb -c "$built" | awk '{ print $1, $2, $6 }') <(dpkg-deb -c "$deb" | awk '{ print $1, $2, $6 }') || die "a clean build has other files"
if cmp -s "$built" "$deb"; then same="the same bytes"; else same="the same files, but other bytes"; fi
say "the source package builds in a clean Debian: $same"

# ---- the tarball ----
for suite in bullseye trixie; do
	debian_in $suite $suite --include=systemd,procps # whose kill the unit calls
	mount --rbind --make-rslave /sys "$dir/$suite/sys" # before 253, systemd reads no unit without its control group
	listing $suite >"$dir/before"
	tar -C "$dir/$suite" -xzf "$release/xidscope-$version-$arch.tar.gz"
	[[ $(chroot "$dir/$suite" xidscope version) == "xidscope $version" ]]
	chroot "$dir/$suite" xidscope run --hooks rpc --source mountstats --output /tmp/x.prom --keep --duration 1s 2>/dev/null
	quietly chroot "$dir/$suite" systemd-analyze verify --man=no /usr/local/lib/systemd/system/xidscope.service
	! grep -i xidscope "$dir/log" || die "systemd of $suite objects, see above"
	chroot "$dir/$suite" sh /usr/local/share/xidscope/uninstall.sh --state
	listing $suite | grep -vE '^./usr/local/(share/(man/man8|bash-completion)|lib/systemd)' >"$dir/after"
	diff <(cut -d' ' -f1 "$dir/before") <(cut -d' ' -f1 "$dir/after") || die "uninstall.sh leaves something, see above"
	say "the tarball runs on $suite ($(chroot "$dir/$suite" systemctl --version | head -n 1))"
done
