#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes sure that the image of deploy/kubernetes/taints is built by its Containerfile, on Debian's own packages in place of a
# registry's image of them, and prints its archive. This script and the Containerfile are the recipe.
set -euo pipefail
. "$(dirname "$0")/../vm/lib.sh"
# shellcheck disable=SC2034 # of need
deps=check-kubernetes
need mmdebstrap buildah

source=$vm/../../deploy/kubernetes/taints
archive=$cache/images/taints-$(cat "$0" "$source/Containerfile" | sha256sum | cut -c1-12).tar
lock taints
if [[ ! -e $archive ]]; then
	base=$(sed -n 's/^FROM //p' "$source/Containerfile")
	mkdir -p "$cache/images"
	rm -rf "$cache"/images/.taints.* # what an earlier run may have left
	new=$(mktemp -d "$cache/images/.taints.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$new/policy"
	b() { buildah --root "$new/root" --runroot "$new/run" --storage-driver vfs "$1" ${policy:+--signature-policy "$new/policy"} "${@:2}"; }
	say "building the image of deploy/kubernetes/taints (a minute)"
	# shellcheck disable=SC2016 # what mmdebstrap's shell expands
	{
		# Small, as a guest unpacks it; as in the registry's image, apt keeps neither packages nor caches, and there are no texts.
		mmdebstrap --quiet --variant=apt --include=usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
			--dpkgopt=force-unsafe-io --dpkgopt=path-exclude=/usr/{share/{bash-completion,doc,i18n,info,locale,man,zoneinfo},'lib/*/gconv'}'/*' \
			--customize-hook='echo "Dir::Cache::pkgcache \"\"; Dir::Cache::srcpkgcache \"\"; APT::Keep-Downloaded-Packages false;" >"$1/etc/apt/apt.conf.d/small"' \
			--customize-hook='rm -rf "$1"/var/cache/apt/*.bin' \
			"$debian" "$new/root.tar" "deb [signed-by=$keyring] $(mirror) $debian main"
		box=$(b from scratch)
		b add "$box" "$new/root.tar" /
		policy=1
		b commit "$box" "$base"
		b build --isolation chroot --pull-never --tag localhost/xidscope-taints:1 "$source"
		b push localhost/xidscope-taints:1 "oci-archive:$new/image.tar:localhost/xidscope-taints:1"
	} >"$new/log" 2>&1 || {
		tail -n 20 "$new/log" >&2
		die "could not build the image of deploy/kubernetes/taints: see above"
	}
	rm -f "$cache"/images/taints-*.tar
	mv "$new/image.tar" "$archive"
fi
echo "$archive"
