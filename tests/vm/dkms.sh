#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes kernel NAME of kernels.tsv, one of the suite out-of-tree, ready to boot and prints its folder: dkms.sh NAME
# It is the kernel of another row with NFS modules that are built from the kernel's sources as storage vendors do: out of
# tree, with structs of sunrpc changed as dkms/layouts.tsv says. As root, if they have to be built.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

compiler=gcc-14 # of modules.sh
# What Linux builds them from, and the script that unpacks a kernel image.
parts=(net/sunrpc fs/nfs fs/nfs_common fs/lockd fs/nfsd fs/internal.h include/linux/sunrpc include/trace/misc
	include/trace/events/{sunrpc,rpcgss,rpcrdma}.h scripts/extract-vmlinux)
# Parts that need symbols of the kernel which it does not export to other builds, or that no scenario uses.
without=('CONFIG_NFS_V2=' 'CONFIG_PNFS_BLOCK=' 'CONFIG_PNFS_FLEXFILE_LAYOUT=' 'CONFIG_PNFS_FILE_LAYOUT='
	'CONFIG_SUNRPC_XPRT_RDMA=' 'CONFIG_NFS_V4_2_SSC_HELPER=' 'CONFIG_DEBUG_INFO_BTF_MODULES=')

name=${1:?usage: dkms.sh NAME}
kernel_row "$name"
IFS=/ read -r own layout types <<<"$package"
base=$("$vm/kernel.sh" "$own")
release=$(<"$base/release")
folder=$cache/dkms/$arch
dir=$folder/$name
built=$folder/built-$own-$layout

# sources: prints a tar of the parts of the kernel's own version.
sources() {
	local version=$1 upstream tar
	upstream=$(cut -d . -f 1,2 <<<"$version")
	tar=$folder/linux-source-$version.tar
	if [[ ! -e $tar ]]; then
		kernel_row "$own"
		apt_root "$suite" "$arch" || die "cannot read the package lists of $suite: check the network"
		say "downloading the sources of $release"
		(cd "$new" && apt-get "${apt_options[@]}" download "linux-source-$upstream=$version") ||
			die "cannot download linux-source-$upstream $version"
		mkdir "$new/linux"
		dpkg-deb --fsys-tarfile "$new"/linux-source-*.deb |
			tar -xO "./usr/src/linux-source-$upstream.tar.xz" | xz -dc -T0 |
			tar -C "$new/linux" -x --strip-components=1 "${parts[@]/#/linux-source-$upstream/}"
		rm -f "$folder"/linux-source-"$upstream".*.tar
		tar -C "$new/linux" -cf "$new/linux.tar" .
		mv "$new/linux.tar" "$tar"
	fi
	echo "$tar"
}

# change_layout FOLDER: puts the layout's members into the headers there.
change_layout() {
	local row header before member found=''
	while IFS=$'\t' read -r row header before member; do
		[[ $row == "$layout" ]] || continue
		header=$1/include/linux/sunrpc/$header
		[[ $(grep -cP "$before" "$header") == 1 ]] || die "not one line of $header matches '$before'"
		perl -pi -e "s/(?=$before)/\t$member\n/" "$header"
		found=1
	done <"$vm/dkms/layouts.tsv"
	[[ $found ]] || die "dkms/layouts.tsv has no layout '$layout'"
}

# build: makes the modules in $new/built, with BTF.
build() {
	local modules toolchain version tar source module
	modules=$("$vm/modules.sh" "$own") || die "there are no headers of $release to build modules with"
	version=$(<"$modules/version")
	tar=$(sources "$version")
	toolchain=$(echo "$cache/modules/$arch"/toolchain-*)
	say "building the NFS modules of $release out of tree, layout $layout (two minutes)"
	mkdir -p "$new"/{upper/build,work,root,built}
	tar -C "$new/upper/build" -xf "$tar"
	change_layout "$new/upper/build"
	cp "$vm/dkms/Kbuild" "$new/upper/build/"
	for source in "$modules"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$source" |
			tar -C "$new/upper" -x --exclude ./lib --exclude ./usr/lib/modules --exclude ./usr/share
	done
	# On top of the compiler's folder, which stays as it is, and in a mount namespace, which leaves nothing to unmount.
	# shellcheck disable=SC2016 # expands in the inner shell
	unshare --mount bash -euc 'root=$1 lower=$2 upper=$3 work=$4; shift 4
		mount -t overlay -o "lowerdir=$lower,upperdir=$upper,workdir=$work" overlay "$root"
		mount --bind /proc "$root/proc"
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"' - \
		"$new/root" "$toolchain" "$new/upper" "$new/work" \
		make -s -j "$(nproc)" -C "/usr/src/linux-headers-$release" M=/build CC=$compiler \
		NOSTDINC_FLAGS="-nostdinc -I/build/include" "${without[@]}" modules >"$new/log" 2>&1 || {
		tail -n 50 "$new/log" >&2
		die "could not build the NFS modules for $release: see above"
	}
	bash "$new/upper/build/scripts/extract-vmlinux" "$base/vmlinuz" >"$new/vmlinux"
	objcopy --dump-section ".BTF=$new/kernel-types" "$new/vmlinux" "$new/vmlinux.copy"
	(cd "$new/upper/build" && find . -name '*.ko') | while read -r module; do
		source=$new/upper/build/$module
		pahole -J --btf_base "$new/kernel-types" "$source"
		mkdir -p "$new/built/${module%/*}"
		objcopy --strip-debug "$source" "$new/built/$module"
	done
	echo "$build_recipe" >"$new/built/recipe"
	rm -rf "$built"
	mv "$new/built" "$built"
}

# image: makes $new/image, the folder of the other kernel with these modules in place of its own. Beside them, in the folder
# types: sunrpc.ko, nfs.ko and nfsv4.ko with their types; other.ko, the kernel's own.
# In the folder place, by build id, what agent-lib.sh puts below /usr/lib/debug.
image() {
	local module file id inside=/$release/kernel place=/$release/place
	mkdir "$new/image"
	cp "$base"/{vmlinuz,release,initramfs.gz,modules.ext4} "$new/image/"
	cp -r "$built" "$new/modules"
	mapfile -t modules < <(cd "$new/modules" && find . -name '*.ko' -printf '%P\n')
	if [[ $types ]]; then
		for module in "${modules[@]}"; do objcopy --wildcard --remove-section '.BTF*' "$new/modules/$module"; done
	fi
	mkdir "$new/types"
	cp "$built"/{net/sunrpc/sunrpc,fs/nfs/nfs,fs/nfs/nfsv4}.ko "$new/types/"
	debugfs -R "dump $inside/net/sunrpc/sunrpc.ko $new/types/other.ko" "$base/modules.ext4" 2>/dev/null
	{
		for module in "${modules[@]}"; do
			printf '%s\n' "rm $inside/$module" "write $new/modules/$module $inside/$module"
		done
		echo "mkdir /$release/types"
		for file in "$new"/types/*; do echo "write $file /$release/types/${file##*/}"; done
		echo "mkdir $place"
		for module in sunrpc nfs nfsv4; do
			file=$new/types/$module.ko
			id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
			[[ $types != wrong-file ]] || file=$new/types/other.ko
			[[ $types != *file ]] || printf '%s\n' "mkdir $place/${id:0:2}" "write $file $place/${id:0:2}/${id:2}.debug"
		done
	} | debugfs -w -f - "$new/image/modules.ext4" >"$new/log" 2>&1
	for module in "${modules[@]}"; do
		debugfs -R "dump $inside/$module $new/written.ko" "$new/image/modules.ext4" 2>/dev/null
		cmp -s "$new/modules/$module" "$new/written.ko" || die "could not replace $module: $(<"$new/log")"
	done
	chmod 755 "$new/image"
	echo "$recipe" >"$new/image/recipe"
	rm -rf "$dir"
	mv "$new/image" "$dir"
}

# Only what has changed is made again.
build_recipe=$(cat "$base/sources" "$vm"/dkms/* <(declare -p parts without; declare -f sources change_layout build) | sha256sum)
recipe=$(cat "$0" <(echo "$build_recipe") | sha256sum)
need unshare chroot debugfs objcopy readelf pahole perl dpkg-deb xz flock
lock "dkms-$own"
mkdir -p "$folder"
rm -rf "$folder/.$own".* # what an earlier run may have left
new=$(mktemp -d "$folder/.$own.XXXXXX")
trap 'rm -rf "$new"' EXIT
if [[ "$build_recipe" != "$(cat "$built/recipe" 2>/dev/null)" ]]; then
	((EUID == 0)) || die "building the NFS modules needs root (they are built in a chroot): run make check-dkms as root"
	build
fi
[[ "$recipe" == "$(cat "$dir/recipe" 2>/dev/null)" ]] || image
echo "$dir"
