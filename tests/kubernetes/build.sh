#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes sure that Kubernetes' own daemons are built of Debian's source package and prints the folder that has them:
# kube-apiserver, kube-controller-manager, kube-scheduler and kubelet. This script and the package's version are the recipe.
set -euo pipefail
. "$(dirname "$0")/../vm/lib.sh"
# shellcheck disable=SC2034 # of need
deps=check-kubernetes

apt_root "$debian" "$(dpkg --print-architecture)" deb-src || die "cannot read the list of sources of $debian: check the network"
version=$(apt-cache "${apt_options[@]}" showsrc kubernetes | sed -n 's/^Version: //p' | sort -V | tail -n 1)
[[ $version ]] || die "$debian has no source package kubernetes"
folder=$cache/kubernetes/$(cat "$0" - <<<"$version" | sha256sum | cut -c1-12)

lock kubernetes
if [[ ! -e $folder ]]; then
	go=/usr/lib/go-1.19/bin/go # later ones do not compile it
	reflect2=/usr/share/gocode/src/github.com/modern-go/reflect2
	need dpkg-source "$go"
	mkdir -p "$cache/kubernetes"
	rm -rf "$cache"/kubernetes/.new.* # what an earlier run may have left
	new=$(mktemp -d "$cache/kubernetes/.new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	say "building Kubernetes $version (8 minutes of CPU)"
	(cd "$new" && apt-get "${apt_options[@]}" source "kubernetes=$version") >"$new/log" 2>&1 || {
		tail -n 5 "$new/log" >&2
		die "cannot fetch the source of kubernetes $version"
	}
	mkdir -p "$new"/{bin,go/src/k8s.io}
	mv "$new"/kubernetes-*/ "$new/go/src/k8s.io/kubernetes"
	cd "$new/go/src/k8s.io/kubernetes"
	# Its own copy of reflect2 calls the runtime of Go 1.19 with a struct that is too small: SIGSEGV in mapiternext.
	cp "$reflect2"/*.{go,s} vendor/github.com/modern-go/reflect2/
	rm vendor/github.com/modern-go/reflect2/go_{above_17,below_17,below_19}.go
	export GOROOT=${go%/bin/go} GO111MODULE=off GOPATH=$new/go GOCACHE=$new/cache CGO_ENABLED=0 GOFLAGS=
	build() { nice "$go" build -trimpath -ldflags "-s -w $stamp" -o "$new/bin" "$@"; }
	for each in gitVersion=v1.20.2 gitMajor=1 gitMinor=20; do
		stamp+="-X k8s.io/kubernetes/vendor/k8s.io/component-base/version.$each "
	done
	{
		build ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
		types=$(grep -rl --include='*.go' '+k8s:openapi-gen=' cmd pkg vendor/k8s.io/*/ | grep -vE '/(code-generator|sample-[a-z]*)/' |
			sed 's|^|k8s.io/kubernetes/|; s|/[^/]*$||' | sort -u | paste -sd,)
		"$new/bin/openapi-gen" --logtostderr -h hack/boilerplate/boilerplate.generatego.txt -O zz_generated.openapi \
			-p k8s.io/kubernetes/pkg/generated/openapi -r "$new/violations" -i "$types"
		rm "$new/bin/openapi-gen"
		build ./cmd/kube{-apiserver,-controller-manager,-scheduler,let}
	} >"$new/log" 2>&1 || {
		tail -n 20 "$new/log" >&2
		die "could not build Kubernetes $version: see above"
	}
	rm -rf "$cache"/kubernetes/[0-9a-f]*
	mv "$new/bin" "$folder"
fi
echo "$folder"
