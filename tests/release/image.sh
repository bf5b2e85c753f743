#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that a release can be signed and verified, and of its image archive that it is an index of both architectures with
# all labels, that containerd imports it by its name, that it is the same in a local registry and pulled from there, that both programs run, and that it can be signed
# and verified, by the commands of docs/DEPLOY.md. The chart is pushed, and pulled again. image.sh RELEASE VERSION     RELEASE: the folder of `make release`
set -euo pipefail
deps='deps-release'
here=$(realpath "$(dirname "$0")")
. "$here/../vm/lib.sh"
(($# == 2)) || die "usage: image.sh RELEASE VERSION"
release=$(realpath "$1") version=$2
need containerd ctr docker-registry skopeo gpg qemu-aarch64-static
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-registry.XXXXXX")
registry='' containerd=''
cleanup() {
	[[ ! $registry ]] || kill "$registry" 2>/dev/null || true
	[[ ! $containerd ]] || kill "$containerd" 2>/dev/null || true
	gpgconf --homedir "$dir/gpg" --kill all 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
cp -r "$release" "$dir/release"
cd "$dir/release"
archive=xidscope-$version-oci.tar
documented() { "$here/../docs/commands.sh" "$@"; }
# by COMMANDS
by() { bash -e <(echo "$1") >"$dir/log" 2>&1 || { tail -n 15 "$dir/log" >&2 && return 1; }; }

mkdir -m 700 "$dir/gpg"
export GNUPGHOME=$dir/gpg
gpg --batch --quiet --passphrase '' --quick-generate-key release@example.org 2>"$dir/log"
key=$(gpg --list-keys --with-colons 2>"$dir/log" | sed -n 's/^fpr:*\([0-9A-F]*\):/\1/p' | head -n 1)
by "$(documented 'What there is' 1)" || die "the release cannot be signed, see above"
by "$(documented 'What there is' 2)" || die "the release cannot be verified, see above"
echo >>CHANGELOG.md
! by "$(documented 'What there is' 2)" 2>/dev/null || die "a changed file is accepted"
(sed 's/^./f/' SHA256SUMS >other && mv other SHA256SUMS)
! by "$(documented 'What there is' 2)" 2>/dev/null || die "changed checksums are accepted"

cd "$dir"
port=$((20000 + RANDOM % 20000))
# skopeo's settings: any image, and a registry without TLS.
export HOME=$dir
mkdir -p .config/containers
echo '{ "default": [ { "type": "insecureAcceptAnything" } ] }' >.config/containers/policy.json
printf '%s\n' '[[registry]]' "location = \"127.0.0.1:$port\"" 'insecure = true' >.config/containers/registries.conf
cat >registry.yml <<END
version: 0.1
log: { level: error }
storage: { filesystem: { rootdirectory: $dir/storage } }
http: { addr: 127.0.0.1:$port }
END
docker-registry serve registry.yml >registry.log 2>&1 &
registry=$!
for _ in {1..100}; do
	! (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	kill -0 $registry || die "the registry does not start: $(tail -n 3 registry.log)"
	sleep 0.1
done
image=docker://127.0.0.1:$port/xidscope
cd release
by "$(documented 'Kubernetes' 1 "VERSION=$version" "registry.example.org=127.0.0.1:$port")" || die "the image cannot be pushed, see above"
cd ..

status=0
helm=$("$here/../kubernetes/helm.sh") || status=$?
((status == 0 || status == 77)) || die "helm cannot be used, see above"
if [[ $helm ]]; then
	chart=$(PLAIN=1 "$here/../../deploy/helm/push.sh" "$helm" "release/xidscope-$version.tgz" "127.0.0.1:$port/charts" 7e1a) || die "the chart cannot be pushed, see above"
	[[ $chart =~ ^sha256:[0-9a-f]{64}$ ]] || die "helm names no digest: '$chart'"
	"$helm" pull --plain-http "oci://127.0.0.1:$port/charts/xidscope" --version "$version" >log 2>&1
	grep -qF "$chart" log || die "the registry has another chart"
	cmp "xidscope-$version.tgz" "release/xidscope-$version.tgz"
	skopeo copy --quiet "docker://127.0.0.1:$port/charts/xidscope:artifacthub.io" oci:artifacthub
	grep -qsx 'repositoryID: 7e1a' artifacthub/blobs/sha256/* || die "the registry has no artifacthub-repo.yml"
fi

# As deploy/kubernetes/README.md says for nodes without a registry.
containerd --root "$dir/images" --state "$dir/state" --address "$dir/socket" >containerd.log 2>&1 &
containerd=$!
for _ in {1..100}; do
	[[ ! -S socket ]] || break
	kill -0 $containerd || die "containerd does not start: $(tail -n 3 containerd.log)"
	sleep 0.1
done
ctr --address "$dir/socket" -n k8s.io images import --no-unpack "release/$archive" >log 2>&1 || die "containerd imports nothing: $(<log)"
ctr --address "$dir/socket" -n k8s.io images ls -q >log
grep -qxF "localhost/xidscope:$version" log || die "containerd has imported other images: $(<log)"

digest=$(tar -xOf "release/$archive" index.json | grep -o 'sha256:[0-9a-f]*' | head -n 1)
served=$(skopeo inspect --raw "$image:$version" | sha256sum | cut -d' ' -f1)
[[ $digest == "sha256:$served" ]] || die "the registry serves sha256:$served, the archive has $digest"

for arch in amd64 arm64; do
	run=() machine='x86[-_]64'
	[[ $arch == amd64 ]] || { machine='aarch64' run=(qemu-aarch64-static); }
	skopeo copy --quiet --override-arch $arch "$image@$digest" "oci:pulled-$arch:x"
	skopeo inspect --override-arch $arch "$image@$digest" >labels
	[[ $(sed -n 's/.*"Architecture": "\(.*\)".*/\1/p' labels) == "$arch" ]] || die "the index has no image for $arch"
	for label in title version licenses created revision source; do
		grep -q "\"org.opencontainers.image.$label\": \"..*\"" labels || die "the image for $arch has no label $label"
	done
	layer=$(sed 's/},{/\n/g' "pulled-$arch"/blobs/sha256/* 2>/dev/null | grep -ao 'image.layer.v1[^}]*sha256:[0-9a-f]*' | grep -o '[0-9a-f]\{64\}' | head -n 1)
	mkdir root-$arch
	tar -C root-$arch -xzf "pulled-$arch/blobs/sha256/$layer"
	[[ $(ls root-$arch) == xidscope ]] || die "the image for $arch has other files than the program"
	[[ $(file root-$arch/xidscope) =~ $machine.*statically ]] || die "the program for $arch is another"
	[[ $("${run[@]}" root-$arch/xidscope version) == "xidscope $version" ]] || die "the program for $arch does not run"
done

by "$(documented 'Kubernetes' 4 "VERSION=$version" "registry.example.org=127.0.0.1:$port" "KEY=$key")" ||
	die "the image cannot be signed and verified, see above"
sed 's/amd64/arm64/' manifest.json >other.json
! skopeo standalone-verify other.json "127.0.0.1:$port/xidscope:$version" "$key" signature >/dev/null 2>&1 || die "a signature of another image is accepted"
echo "$digest: both architectures are served, pulled and run; signed and verified; chart: ${chart:-not tried, without helm}"
