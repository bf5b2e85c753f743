#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packs the static binary into an OCI image, without a network; see usage below.
set -euo pipefail

usage="usage: build.sh [BINARY [ARCHIVE]]
  BINARY   the static xidscope (build/xidscope)
  ARCHIVE  the OCI archive to write (build/xidscope-oci.tar)
The image is named xidscope:VERSION, as the binary says. The same binary gives the same layer, with
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

type -P buildah >/dev/null || die "buildah is missing: install the Debian package buildah, or run 'sudo make deps'"
[[ -x $binary ]] || die "$binary is missing: run 'make' first"
# The image holds no dynamic loader.
! LC_ALL=C grep -aqE '/lib(64)?/ld-(linux|musl)' "$binary" || die "$binary is not static"
# The image is for the machine that the binary's header names.
case $(od -An -tu2 -j18 -N2 "$binary" | tr -d ' ') in
62) platform=linux/amd64 ;;
183) platform=linux/arm64 ;;
*) die "$binary is for a machine that is not known here" ;;
esac
version=$("$binary" version) || die "$binary does not run on this machine: for another architecture install qemu-user-static"
version=${version##* }
[[ $version =~ ^[0-9][0-9A-Za-z.~+-]*$ ]] || die "'$binary version' says '$version', which is no version"
tag=xidscope:${version//[~+]/-} # what a tag may hold

# Storage of its own, thrown away afterwards: vfs and chroot need neither overlayfs nor user namespaces, and the
# system's images stay as they are.
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-image.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/context"
install -m755 "$binary" "$dir/context/xidscope"
storage=(--root "$dir/root" --runroot "$dir/run" --storage-driver vfs)
# An empty policy file: where containers/common is not set up, buildah asks for one.
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
