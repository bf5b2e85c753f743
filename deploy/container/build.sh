#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packs the static binary into an OCI image, without a network; see usage below.
set -euo pipefail

usage="usage: build.sh [BINARY [ARCHIVE]]
  BINARY   the static xidscope (build/xidscope)
  ARCHIVE  the OCI archive to write (build/xidscope-oci.tar)
The image is named xidscope:VERSION, with the binary's version. The same binary gives the same layer, with
SOURCE_DATE_EPOCH (0) as its time. Load the archive with one of
  podman load -i ARCHIVE
  ctr -n k8s.io images import ARCHIVE
  skopeo copy oci-archive:ARCHIVE docker://REGISTRY/xidscope:VERSION"
die() {
	echo "build.sh: error: $*" >&2
	exit 1
}

[[ ${1:-} != -* ]] || {
	echo "$usage"
	exit
}
(($# <= 2)) || die "too many arguments"$'\n'"$usage"
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
binary=$(realpath -m "${1:-$root/build/xidscope}")
archive=$(realpath -m "${2:-$root/build/xidscope-oci.tar}")

type -P buildah >/dev/null || die "buildah is missing: install the Debian package buildah, or run 'make deps' as root"
[[ -x $binary ]] || die "$binary is missing: run 'make' first"
# The image contains no dynamic loader.
! LC_ALL=C grep -aqE '/lib(64)?/ld-(linux|musl)' "$binary" || die "$binary is not static"
# The image's platform is that of the binary's header.
case $(od -An -tu2 -j18 -N2 "$binary" | tr -d ' ') in
62) platform=linux/amd64 ;;
183) platform=linux/arm64 ;;
*) die "$binary is for an unknown machine: amd64 and arm64 are supported" ;;
esac
version=$("$binary" version) || die "$binary does not run on this machine: for another architecture install qemu-user-static"
version=${version##* }
[[ $version =~ ^[0-9][0-9A-Za-z.~+-]*$ ]] || die "'$binary version' prints '$version', which is not a version"
tag=xidscope:${version//[~+]/-} # characters that a tag may contain

# Temporary storage of its own: vfs and chroot need neither overlayfs nor user namespaces, and the system's images do not
# change.
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-image.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/context"
install -m755 "$binary" "$dir/context/xidscope"
storage=(--root "$dir/root" --runroot "$dir/run" --storage-driver vfs)
# buildah needs a policy file where containers/common is not set up.
echo '{ "default": [ { "type": "insecureAcceptAnything" } ] }' >"$dir/policy.json"

quietly() {
	"$@" >"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		die "'${1##*/} ${*: -1}' failed, see above"
	}
}
quietly buildah "${storage[@]}" build --isolation chroot --platform "$platform" --timestamp "${SOURCE_DATE_EPOCH:-0}" \
	--signature-policy "$dir/policy.json" --label org.opencontainers.image.title=xidscope \
	--label "org.opencontainers.image.version=$version" \
	--label 'org.opencontainers.image.licenses=GPL-2.0-only OR BSD-2-Clause' \
	--tag "$tag" --file "$here/Containerfile" "$dir/context"
mkdir -p "$(dirname "$archive")"
quietly buildah "${storage[@]}" push --signature-policy "$dir/policy.json" "$tag" "oci-archive:$dir/image.tar:$tag"
mv "$dir/image.tar" "$archive"
echo "$archive: $tag, $(stat -c %s "$archive") bytes"
