#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes kernel NAME of kernels.tsv ready to boot and prints its folder, which holds vmlinuz, release,
# initramfs.gz and modules.ext4: kernel.sh NAME
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

required=(virtio_pci virtio_blk ext4)
optional=(crc32c_generic) # ext4 asks for it by name before Linux 6.14; later kernels do not have it

name=${1:?usage: kernel.sh NAME}
read -r _ suite meta arch _ < <(awk -v name="$name" '$1 "" == name' "$vm/kernels.tsv") ||
	die "no kernel '$name': see tests/vm/kernels.tsv"
need depmod modprobe mke2fs cpio xz dpkg-deb flock
dir=$cache/kernels/$name

# Prints the archive files that make up the kernel: some suites split it into image, binary and modules packages.
resolve() {
	local packages
	mapfile -t packages < <(apt-cache "${apt_options[@]}" depends --recurse --no-recommends --no-suggests \
		--no-breaks --no-conflicts --no-replaces --no-enhances "$meta" |
		grep -E '^linux-(base|image|binary|modules)-' | sort -u)
	[[ ${packages[*]} ]] && apt-get "${apt_options[@]}" --print-uris download "${packages[@]}" | awk '{ print $2 }'
}

# use_cached REASON: ends with the cached kernel, or with an error if there is none.
use_cached() {
	[[ -e $dir/sources ]] || die "$1, and no copy of kernel $name in $cache: check the network"
	say "$1: using the cached $(<"$dir/release")"
	echo "$dir"
	exit
}

lock "kernel-$name"
apt_root "$suite" "$arch" || use_cached "cannot read the package lists of $suite"
files=$(resolve) || use_cached "cannot find $meta in $suite"
sources=$(echo "$files" && cat "$0" "$vm/initramfs" | sha256sum)
if [[ $sources == "$(cat "$dir/sources" 2>/dev/null)" ]]; then
	echo "$dir"
	exit
fi

mkdir -p "$cache/kernels"
rm -rf "$cache/kernels/.$name".* # what an earlier run may have left
new=$(mktemp -d "$cache/kernels/.$name.XXXXXX")
trap 'rm -rf "$new"' EXIT
mkdir "$new"/{debs,tree,initramfs}

say "downloading kernel $name:" "$(grep -m1 -- '-[0-9].*_' <<<"$files")"
mapfile -t packages <<<"$files"
(cd "$new/debs" && apt-get "${apt_options[@]}" download "${packages[@]%%_*}") || use_cached "cannot download $meta"
busybox=$("$vm/tool.sh" busybox-static bin/busybox "$arch")

say "unpacking kernel $name"
for deb in "$new"/debs/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -C "$new/tree" -x --wildcards --exclude './usr/share/*' \
		--transform 's,^\./usr/lib/modules,./lib/modules,' './*'
done
find "$new/tree" -type f -name 'vmlinuz*' -exec mv {} "$new/vmlinuz" \; # in /boot, or from 7.2 on with the modules
release=$(basename "$new"/tree/lib/modules/*)
echo "$release" >"$new/release"
modules=$new/tree/lib/modules/$release
# Under emulation a guest unpacks slowly, so it gets plain modules.
find "$modules" -name '*.ko.xz' -print0 | xargs -0r -P "$(nproc)" -n 64 xz -d
depmod -b "$new/tree" "$release"
truncate -s "$(($(du -s --apparent-size -m "$modules" | cut -f1) * 13 / 10 + 16))M" "$new/modules.ext4"
mke2fs -q -t ext4 -O ^has_journal -m 0 -L modules -d "$new/tree/lib/modules" "$new/modules.ext4"

mkdir -p "$new"/initramfs/{bin,dev,lib,modules,proc,root,sys}
cp "$busybox" "$new/initramfs/bin/busybox"
install "$vm/initramfs" "$new/initramfs/init"
show() { modprobe -d "$new/tree" -S "$release" --show-depends "$@"; }
{
	for module in "${optional[@]}"; do show "$module" 2>/dev/null || true; done
	for module in "${required[@]}"; do show "$module"; done
} | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$new/load"
while read -r module; do
	cp "$module" "$new/initramfs/modules/"
	basename "$module"
done <"$new/load" >"$new/initramfs/modules/load"
(cd "$new/initramfs" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -n >"$new/initramfs.gz"

rm -rf "$new"/{debs,tree,initramfs,load}
chmod 755 "$new"
echo "$sources" >"$new/sources"
rm -rf "$dir"
mv "$new" "$dir"
echo "$dir"
