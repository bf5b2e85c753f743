#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes sure that the test drivers in modules/ are built for kernel NAME of kernels.tsv and prints the folder that holds
# tracepoint/nvidia.ko and text/nvidia.ko: modules.sh NAME. As root, if they have to be built.
# Exit status 77 if they cannot be: Debian keeps old kernels longer than the headers to build modules for them.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# The headers come with programs for the newest suite's C library, so all is built in a folder that has it.
toolchain_suite=trixie
compiler=gcc-14
host=$(dpkg --print-architecture)
declare -A triplets=([amd64]=x86_64-linux-gnu [arm64]=aarch64-linux-gnu)

name=${1:?usage: modules.sh NAME}
kernel_row "$name"
if [[ $suite == without-btf ]]; then # the same kernel but for its sunrpc.ko
	name=$package
	kernel_row "$name"
fi
kernel=$("$vm/kernel.sh" "$name")
release=$(<"$kernel/release")
cross='' # what the names of the tools begin with
[[ $arch == "$host" ]] || cross=${triplets[$arch]}-
packages=$compiler${cross:+-${cross%-}},make,libc6-dev,libelf1t64,libssl3t64
dir=$cache/modules/$arch/$name
sources=$(cat "$kernel/sources" "$0" "$vm"/modules/{Kbuild,*.[ch]} | sha256sum)
cached() { [[ $sources == "$(cat "$dir/sources" 2>/dev/null)" ]]; }
if cached; then
	echo "$dir"
	exit
fi

((EUID == 0)) || die "building the test drivers needs root (they are built in a chroot): run this, or make check, as root"
need mmdebstrap dpkg-deb flock unshare chroot
lock modules
if cached; then # another process was faster
	echo "$dir"
	exit
fi
toolchain=$cache/modules/$arch/toolchain-$(sha256sum <<<"$toolchain_suite $arch $packages" | cut -c1-12)
rm -rf "$cache"/modules/.new.* "$toolchain"/{build,usr/src,usr/lib/linux-kbuild-*} # what an earlier run may have left
mkdir -p "$cache/modules/$arch"
new=$(mktemp -d "$cache/modules/.new.XXXXXX")
clean() { rm -rf "$new" "$toolchain"/{build,usr/src,usr/lib/linux-kbuild-*}; }
trap clean EXIT

if [[ ! -d $toolchain ]]; then
	say "building a folder with compiler (half a minute)"
	mmdebstrap --quiet --mode=root --variant=essential --architectures="$host" --include="$packages" \
		--dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/{doc,info,lintian,locale,man}/*' \
		"$toolchain_suite" "$new/toolchain" "deb [signed-by=$keyring] $(mirror) $toolchain_suite main" >"$new/log" 2>&1 || {
		cat "$new/log" >&2
		die "mmdebstrap could not build the folder with compiler"
	}
	rm -rf "$cache/modules/$arch"/toolchain-*
	mv "$new/toolchain" "$toolchain"
fi

# The headers of the version that kernel.sh has unpacked, from its list of archive files. They are kept with the drivers, so
# that a changed driver can be built without a network.
version=$(sed -n "s/^linux-image-${release//./\\.}_\(.*\)_$arch\.deb$/\1/p" "$kernel/sources")
[[ $version ]] || die "$kernel/sources does not name the version of $release"
mkdir "$new/debs" "$new/$name"
if [[ $(cat "$dir/version" 2>/dev/null) == "$version" ]]; then
	cp "$dir"/debs/*.deb "$new/debs/"
else
	apt_root "$suite" "$arch" || die "cannot read the package lists of $suite: check the network"
	apt-cache "${apt_options[@]}" show "linux-headers-$release=$version" >/dev/null 2>&1 || {
		say "the mirror has no headers of $release any more: what needs the test drivers is not tested there"
		exit 77
	}
	mapfile -t headers < <(apt-cache "${apt_options[@]}" depends "linux-headers-$release=$version" |
		sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p')
	say "downloading the headers of $release"
	(cd "$new/debs" && apt-get "${apt_options[@]}" download "linux-headers-$release=$version" "${headers[@]}") ||
		die "cannot download the headers of $release $version"
	if [[ $cross ]]; then # their programs must run here
		rm -f "$new"/debs/linux-kbuild-*
		apt_root "$suite" "$host" || die "cannot read the package lists of $suite: check the network"
		mapfile -t programs < <(printf '%s\n' "${headers[@]}" | grep '^linux-kbuild-')
		(cd "$new/debs" && apt-get "${apt_options[@]}" download "${programs[@]/%/=$version}") ||
			die "cannot download ${programs[*]} $version"
	fi
fi
say "building the test drivers for $release"
for deb in "$new"/debs/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" |
		tar -C "$toolchain" -x --exclude ./lib --exclude ./usr/lib/modules --exclude ./usr/share
done
# In a mount namespace, which leaves nothing to unmount. Objtool reads /proc/self/maps from 7.x on.
inside() {
	# shellcheck disable=SC2016 # expands in the inner shell
	unshare --mount bash -euc 'mount --bind /proc "$1/proc"; exec chroot "$@"' - \
		"$toolchain" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"
}
for driver in tracepoint text; do
	mkdir -p "$toolchain/build/$driver" "$new/$name/$driver"
	cp "$vm"/modules/{Kbuild,*.[ch]} "$toolchain/build/$driver/"
	# Without BTF, as the real driver's modules.
	inside make -s -j "$(nproc)" -C "/usr/src/linux-headers-$release" M="/build/$driver" \
		CROSS_COMPILE="$cross" CC="$cross$compiler" \
		DRIVER="${driver^^}" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$new/log" 2>&1 || {
		cat "$new/log" >&2
		die "could not build the $driver driver for $release: see above"
	}
	grep "^/build/.*warning:" "$new/log" >&2 || true
	inside "${cross}strip" --strip-debug "/build/$driver/"{nvidia,nvidia_uvm}.ko
	cp "$toolchain/build/$driver/"{nvidia,nvidia_uvm}.ko "$new/$name/$driver/"
done
mv "$new/debs" "$new/$name/debs"
echo "$version" >"$new/$name/version"
echo "$sources" >"$new/$name/sources"
rm -rf "$dir"
mv "$new/$name" "$dir"
echo "$dir"
