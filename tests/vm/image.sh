#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes sure that the guest's root file system exists and prints its path. The packages in rootfs.packages and this
# script are its recipe: it is rebuilt when they change. Jobs and the guest's init come on a disk of their own.
#   image.sh [--arch ARCHITECTURE] [NAME PACKAGES]
# NAME: another image, that has the packages listed in the file PACKAGES, too.
set -euo pipefail
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

lock "$name-$arch"
if [[ ! -e $image ]]; then
	# Packages of another architecture are unpacked, and not configured: that would need programs of theirs to run.
	variant=(--variant=essential)
	[[ $arch == "$(dpkg --print-architecture)" ]] ||
		variant=(--variant=extract --include='?essential' --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr)
	mkdir -p "$images"
	rm -rf "$images/.$name".* # what an earlier run may have left
	new=$(mktemp -d "$images/.$name.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	say "building the guest's root file system, $name for $arch (half a minute)"
	mmdebstrap --quiet "${variant[@]}" --architectures="$arch" --include="$(grep -hv '^#' "${lists[@]}" | paste -sd,)" \
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
		cd "$1/root" # what configuring would have made, as far as the guest needs it
		for file in passwd group; do [[ -e etc/$file ]] || cp "usr/share/base-passwd/$file.master" "etc/$file"; done
		grep -q ^_rpc: etc/passwd || echo "_rpc:x:100:65534::/run/rpcbind:/usr/sbin/nologin" >>etc/passwd
		[[ -e etc/nsswitch.conf ]] || cp usr/share/libc-bin/nsswitch.conf etc/
		[[ -L var/run ]] || { rm -r var/run; ln -s /run var/run; } # where lockd looks for rpcbind
		[[ -e usr/bin/awk ]] || ln -s mawk usr/bin/awk
		mkdir -p "$1"/root/{export,job,mnt,vm,usr/lib/modules}
		truncate -s 3G "$1/root.ext4"
		mke2fs -q -t ext4 -O ^has_journal -m 0 -L root -d "$1/root" "$1/root.ext4"' - "$new"
	rm -f "$images/$name"-*.ext4
	mv "$new/root.ext4" "$image"
fi
echo "$image"
