#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs from Debian all that building, the demo and the tests need. As root; installs only what is missing.
#   deps.sh [--missing]           --missing: only prints what is missing
#   deps.sh --only 'PACKAGE...'   those packages instead, which some targets need beyond the rest
#   deps.sh --build 'PACKAGE...'  what building needs, and those packages
#   deps.sh [...] --for arm64     also what the same for that architecture needs
set -euo pipefail

packages=(gcc make clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev libc6-dev libjs-dygraphs) # building
foreign_packages=(gcc-aarch64-linux-gnu libc6-dev:arm64 libbpf-dev:arm64 libelf-dev:arm64 zlib1g-dev:arm64)
tests=(
	# guests: kernels, root image, QEMU
	qemu-system-x86 mmdebstrap fakeroot e2fsprogs kmod cpio xz-utils zstd debian-archive-keyring busybox-static
	# unit tests and readers
	cmark libcmocka-dev libclang-rt-dev python3 python3-prometheus-client python3-yaml python3-jsonschema python3-numpy
	# container image, unit check
	buildah systemd procps # whose kill the unit calls
	# man page check, linters
	man-db groff-base mandoc shellcheck flake8 clang-format
)
foreign_tests=(
	qemu-system-arm # guests
	qemu-user-static # container images
)
foreign=''
case ${1:-} in
--only)
	read -ra packages <<<"$2"
	shift 2
	;;
--build)
	read -ra more <<<"$2"
	packages+=("${more[@]}")
	foreign_packages+=(qemu-user-static) # the package's build runs the program
	shift 2
	;;
*)
	packages+=("${tests[@]}")
	foreign_packages+=("${foreign_tests[@]}")
	;;
esac
if [[ ${1:-} == --for ]]; then
	foreign=$2
	[[ $foreign == arm64 ]] || {
		echo "there is no cross-building for $foreign" >&2
		exit 1
	}
	packages+=("${foreign_packages[@]}")
fi
native=$(dpkg --print-architecture)
missing=()
for package in "${packages[@]}"; do
	arch=$native
	[[ $package != *:* ]] || arch=${package#*:}
	dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "$package" 2>/dev/null |
		grep -qE "^installed ($arch|all)$" || missing+=("$package")
done
if [[ ${1:-} == --missing ]]; then
	echo "${missing[@]}"
	exit
fi
((${#missing[@]})) || exit 0
if ((EUID)); then
	echo "missing packages: ${missing[*]}; install them, or run \`make deps\` as root" >&2
	exit 1
fi
echo "installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
[[ ! $foreign ]] || dpkg --add-architecture "$foreign"
{ apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	echo "installing failed: see above; is the package mirror of /etc/apt reachable?" >&2
	exit 1
}
