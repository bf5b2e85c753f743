#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes kernel NAME of kernels.tsv ready to boot and prints its folder, which holds vmlinuz, release,
# initramfs.gz and modules.ext4: kernel.sh NAME
set -euo pipefail
. "$(dirname "$0")/lib.sh"

required=(virtio_pci virtio_blk ext4)
optional=(crc32c_generic) # ext4 asks for it by name before Linux 6.14; later kernels do not have it

name=${1:?usage: kernel.sh NAME}
kernel_row "$name"
need depmod modprobe mke2fs cpio xz dpkg-deb flock
dir=$cache/kernels/$arch/$name

# is_current SOURCES: ends with the cached kernel if it is made of those.
is_current() {
	[[ $1 == "$(cat "$dir/sources" 2>/dev/null)" ]] || return 0
	echo "$dir"
	exit
}

# make_folder: an empty folder of this process, which becomes the kernel's when all has gone well.
make_folder() {
	mkdir -p "$cache/kernels/$arch"
	rm -rf "$cache/kernels/$arch/.$name".* # what an earlier run may have left
	new=$(mktemp -d "$cache/kernels/$arch/.$name.XXXXXX")
	trap 'rm -rf "$new"' EXIT
}

# keep SOURCES: the folder becomes the kernel's.
keep() {
	chmod 755 "$new"
	echo "$1" >"$new/sources"
	rm -rf "$dir"
	mv "$new" "$dir"
	echo "$dir"
}

# The kernel of another row whose sunrpc.ko has lost its BTF, as that of an out-of-tree build. It loses its signature,
# too, which Debian's kernels do not insist on.
without_btf() {
	local base module sources
	need debugfs objcopy
	base=$("$0" "$package")
	sources=$(cat "$base/sources" && echo without-btf)
	is_current "$sources"
	make_folder
	module=/$(<"$base/release")/kernel/net/sunrpc/sunrpc.ko
	cp "$base"/{vmlinuz,release,initramfs.gz,modules.ext4} "$new/"
	debugfs -R "dump $module $new/sunrpc.ko" "$new/modules.ext4" 2>/dev/null
	objcopy --wildcard --remove-section '.BTF*' "$new/sunrpc.ko" "$new/bare.ko" || die "kernel $package has no module sunrpc"
	printf '%s\n' "rm $module" "write $new/bare.ko $module" | debugfs -w -f - "$new/modules.ext4" >"$new/log" 2>&1
	debugfs -R "dump $module $new/written.ko" "$new/modules.ext4" 2>/dev/null
	cmp -s "$new/bare.ko" "$new/written.ko" || die "could not replace sunrpc.ko: $(<"$new/log")"
	rm -f "$new"/{*.ko,log}
	keep "$sources"
}

# newest PATTERN: prints the name that has the highest version among the packages that match.
newest() {
	local candidate
	apt-cache "${apt_options[@]}" pkgnames linux- | while read -r candidate; do
		# shellcheck disable=SC2053 # a pattern
		[[ $candidate != $1 ]] || echo "$candidate"
	done | sort -V | tail -n 1
}

# Prints the archive files that make up the kernel: some suites split it into image, binary and modules packages.
resolve() {
	local packages
	[[ $package != *'*'* ]] || package=$(newest "$package")
	[[ $package ]] || return 1
	mapfile -t packages < <(apt-cache "${apt_options[@]}" depends --recurse --no-recommends --no-suggests \
		--no-breaks --no-conflicts --no-replaces --no-enhances "$package" |
		grep -E '^linux-(base|image|binary|modules)-' | sort -u)
	[[ ${packages[*]} ]] && apt-get "${apt_options[@]}" --print-uris download "${packages[@]}" | awk '{ print $2 }'
}

# resolve_once: the same, as long as the package lists are the same.
resolve_once() {
	local lists=$cache/apt/$suite-$arch
	local known=$lists/$name-${package//'*'/any}.files
	if [[ ! $known -nt $lists/updated ]]; then
		resolve >"$known.new" || return 1
		mv "$known.new" "$known"
	fi
	cat "$known"
}

# use_cached REASON: ends with the cached kernel, or with an error if there is none.
use_cached() {
	[[ -e $dir/sources ]] || die "$1, and there is no copy of kernel $name in $cache: check the network," \
		"or name another suite or package in tests/vm/kernels.tsv if Debian has dropped this one"
	say "$1: using the cached $(<"$dir/release")"
	echo "$dir"
	exit
}

lock "kernel-$name"
if [[ $suite == without-btf ]]; then
	without_btf
	exit
fi
apt_root "$suite" "$arch" || use_cached "cannot read the package lists of $suite"
files=$(resolve_once) || use_cached "the mirror has no $package in $suite"
sources=$(echo "$files" && cat "$0" "$vm/initramfs" | sha256sum)
is_current "$sources"
make_folder
mkdir "$new"/{debs,tree,initramfs}

say "downloading kernel $name:" "$(grep -m1 -- '-[0-9].*_' <<<"$files")"
mapfile -t packages <<<"$files"
(cd "$new/debs" && apt-get "${apt_options[@]}" download "${packages[@]%%_*}") || use_cached "cannot download $package"
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
keep "$sources"
