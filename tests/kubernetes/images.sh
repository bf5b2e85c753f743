#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes sure that there is an image with kubectl, of Debian's own packages, and prints its archive. The stand-in for
# node-problem-detector is built on it.
set -euo pipefail
. "$(dirname "$0")/../vm/lib.sh"
# shellcheck disable=SC2034 # of need
deps=check-kubernetes
need mmdebstrap buildah

archive=$cache/images/kubectl-$(sha256sum <"$0" | cut -c1-12).tar
lock kubectl
if [[ ! -e $archive ]]; then
	mkdir -p "$cache/images"
	rm -rf "$cache"/images/.kubectl.* # what an earlier run may have left
	new=$(mktemp -d "$cache/images/.kubectl.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$new/policy"
	b() { buildah --root "$new/root" --runroot "$new/run" --storage-driver vfs "$1" ${policy:+--signature-policy "$new/policy"} "${@:2}"; }
	say "building the image with kubectl (a minute)"
	# shellcheck disable=SC2016 # what mmdebstrap's shell expands
	{
		# Small, as a guest unpacks it; as in the registry's image, apt keeps neither packages nor caches, and there are no texts.
		mmdebstrap --quiet --variant=apt --include=usr-is-merged,kubernetes-client --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
			--dpkgopt=force-unsafe-io --dpkgopt=path-exclude=/usr/{share/{bash-completion,doc,i18n,info,locale,man,zoneinfo},'lib/*/gconv'}'/*' \
			--customize-hook='echo "Dir::Cache::pkgcache \"\"; Dir::Cache::srcpkgcache \"\"; APT::Keep-Downloaded-Packages false;" >"$1/etc/apt/apt.conf.d/small"' \
			--customize-hook='rm -rf "$1"/var/cache/apt/*.bin' \
			"$debian" "$new/root.tar" "deb [signed-by=$keyring] $(mirror) $debian main"
		box=$(b from scratch)
		b add "$box" "$new/root.tar" /
		policy=1
		b commit "$box" localhost/kubectl:1
		b push localhost/kubectl:1 "oci-archive:$new/image.tar:localhost/kubectl:1"
	} >"$new/log" 2>&1 || {
		tail -n 20 "$new/log" >&2
		die "could not build the image with kubectl: see above"
	}
	rm -f "$cache"/images/kubectl-*.tar
	mv "$new/image.tar" "$archive"
fi
echo "$archive"
