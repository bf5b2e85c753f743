#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packs static binaries into an OCI image, without a network; see usage below.
set -euo pipefail

usage="usage: build.sh ARCHIVE BINARY...
  ARCHIVE  the OCI archive to write
  BINARY   the static xidscope; with one for each of several architectures, the image is an index of them
The image is named localhost/xidscope:VERSION, with the first binary's version. The same binaries give the same archive, with
SOURCE_DATE_EPOCH (0) as its time, and REVISION and SOURCE_URL in its labels. Load the archive with one of
  podman load -i ARCHIVE
  ctr -n k8s.io images import ARCHIVE
  skopeo copy --all oci-archive:ARCHIVE docker://REGISTRY/xidscope:VERSION"
die() {
	echo "build.sh: error: $*" >&2
	exit 1
}

(($# >= 2)) || die "$usage"
here=$(realpath "$(dirname "$0")")
archive=$(realpath -m "$1")
epoch=${SOURCE_DATE_EPOCH:-0}
shift
type -P buildah >/dev/null || die "buildah is missing: install the Debian package buildah, or run 'make deps' as root"

# machine BINARY: of its header, by the name that images have for it.
machine() {
	case $(od -An -tu2 -j18 -N2 "$1" | tr -d ' ') in
	62) echo amd64 x86_64 ;;
	183) echo arm64 aarch64 ;;
	*) die "$1 is for an unknown machine: amd64 and arm64 are supported" ;;
	esac
}
for binary; do
	[[ -x $binary ]] || die "$binary is missing: run 'make' first"
	# The image contains no dynamic loader.
	! LC_ALL=C grep -aqE '/lib(64)?/ld-(linux|musl)' "$binary" || die "$binary is not static"
done
read -r _ qemu < <(machine "$1")
version=$("$1" version 2>/dev/null || "qemu-$qemu-static" "$1" version) ||
	die "$1 does not run on this machine: for another architecture install qemu-user-static"
version=${version##* }
[[ $version =~ ^[0-9][0-9A-Za-z.~+-]*$ ]] || die "'$1 version' prints '$version', which is not a version"
tag=xidscope:${version//[~+]/-} # characters that a tag may contain

# Temporary storage of its own: vfs and chroot need neither overlayfs nor user namespaces, and the system's images do not
# change.
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-image.XXXXXX")
trap 'rm -rf "$dir"' EXIT
storage=(--root "$dir/root" --runroot "$dir/run" --storage-driver vfs)
# buildah needs a policy file where containers/common is not set up.
echo '{ "default": [ { "type": "insecureAcceptAnything" } ] }' >"$dir/policy.json"
quietly() {
	"$@" >"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		die "'${1##*/} ${*: -1}' failed, see above"
	}
}
for binary; do
	read -r arch _ < <(machine "$binary")
	mkdir "$dir/$arch"
	install -m755 "$binary" "$dir/$arch/xidscope"
	quietly buildah "${storage[@]}" build --isolation chroot --platform "linux/$arch" --timestamp "$epoch" \
		--signature-policy "$dir/policy.json" \
		--label org.opencontainers.image.title=xidscope \
		--label "org.opencontainers.image.version=$version" \
		--label 'org.opencontainers.image.licenses=GPL-2.0-only OR BSD-2-Clause' \
		--label "org.opencontainers.image.created=$(date -u -d "@$epoch" +%FT%TZ)" \
		--label "org.opencontainers.image.revision=${REVISION:-unknown}" \
		--label "org.opencontainers.image.source=${SOURCE_URL:-unknown}" \
		--tag "$tag-$arch" --file "$here/Containerfile" "$dir/$arch"
done
if (($# == 1)); then
	quietly buildah "${storage[@]}" push --signature-policy "$dir/policy.json" "$tag-$arch" "oci:$dir/image:localhost/$tag"
else
	quietly buildah "${storage[@]}" manifest create "$tag"
	for binary; do
		read -r arch _ < <(machine "$binary")
		quietly buildah "${storage[@]}" manifest add --os linux --arch "$arch" "$tag" "containers-storage:localhost/$tag-$arch"
	done
	quietly buildah "${storage[@]}" manifest push --all --format oci --signature-policy "$dir/policy.json" "$tag" "oci:$dir/image:localhost/$tag"
fi
mkdir -p "$(dirname "$archive")"
tar -C "$dir/image" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$epoch" -cf "$archive" blobs index.json oci-layout
echo "$archive: localhost/$tag, $(stat -c %s "$archive") bytes"
