#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes sure that the guest's root file system exists and prints its path. The packages in rootfs.packages and this
# script are its recipe: it is rebuilt when they change. Jobs and the guest's init come on a disk of their own.
#   image.sh [--arch ARCHITECTURE] [NAME PACKAGES]
# Exit status 77: this machine cannot make one for that architecture.
# NAME: another image, that has the packages listed in the file PACKAGES, too.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need mmdebstrap fakeroot mke2fs flock

arch=amd64
if [[ ${1:-} == --arch ]]; then
	arch=$2
	shift 2
fi
name=${1:-rootfs}
lists=("$vm/rootfs.packages" ${2:+"$2"})
recipe=$(cat "$0" "${lists[@]}" | sha256sum | cut -c1-12)
images=$cache/images/$arch
image=$images/$name-$recipe.ext4

# cannot REASON: ends with the status of what this machine cannot do.
cannot() {
	say "$*"
	exit 77
}

# Packages of another architecture are configured by programs of theirs, which this machine's kernel must be told how to
# run. Debian's qemu-user-static has a running systemd do that, else root can.
emulate() {
	local misc=/proc/sys/fs/binfmt_misc setting=/usr/lib/binfmt.d/qemu-$1.conf
	[[ ! -e $misc/qemu-$1 ]] || return 0
	[[ -e $setting ]] || cannot "programs of $arch cannot run here: install qemu-user-static (make deps ARCH=$arch)"
	[[ -e $misc/register ]] || mount -t binfmt_misc binfmt_misc "$misc" 2>/dev/null || true
	{ cat "$setting" >"$misc/register"; } 2>/dev/null ||
		cannot "programs of $arch cannot run here: as root, start systemd-binfmt, or write $setting to $misc/register"
}

lock "$name-$arch"
if [[ ! -e $image ]]; then
	case $arch in
	"$(dpkg --print-architecture)") effort="half a minute" ;;
	arm64) effort="some minutes" && emulate aarch64 ;;
	*) die "no root file system for $arch: add its emulation to $0" ;;
	esac
	mkdir -p "$images"
	rm -rf "$images/.$name".* # what an earlier run may have left
	new=$(mktemp -d "$images/.$name.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	say "building the guest's root file system, $name for $arch ($effort)"
	mmdebstrap --quiet --variant=essential --architectures="$arch" --include="$(grep -hv '^#' "${lists[@]}" | paste -sd,)" \
		--dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/{doc,info,lintian,locale,man}/*' \
		"$debian" "$new/root.tar" "deb [signed-by=$keyring] $(mirror) $debian main" >"$new/log" 2>&1 || {
		cat "$new/log" >&2
		die "mmdebstrap could not build the root file system"
	}
	# fakeroot keeps the owners when an ordinary user builds. QEMU's snapshot=on makes the free space writable.
	# shellcheck disable=SC2016 # expands in the inner shell
	fakeroot -- bash -euc '
		mkdir "$1/root"
		tar -C "$1/root" -x --exclude "./dev/*" -f "$1/root.tar"
		: >"$1/root/etc/resolv.conf"
		mkdir -p "$1"/root/{export,job,mnt,vm,usr/lib/modules}
		truncate -s 3G "$1/root.ext4"
		mke2fs -q -t ext4 -O ^has_journal -m 0 -L root -d "$1/root" "$1/root.ext4"' - "$new"
	rm -f "$images/$name"-*.ext4
	mv "$new/root.ext4" "$image"
fi
echo "$image"
