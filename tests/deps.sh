#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs from Debian all that building, the demo and the tests need. As root; installs only what is missing.
#   deps.sh [--missing]          --missing: only prints what is missing
#   deps.sh --only 'PACKAGE...'  those packages instead, which some targets need beyond the rest
set -euo pipefail

packages=(
	# building
	gcc make clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev libc6-dev
	# guests: kernels, root image, QEMU
	qemu-system-x86 mmdebstrap fakeroot e2fsprogs kmod cpio xz-utils zstd debian-archive-keyring busybox-static
	# unit tests and readers
	libcmocka-dev libclang-rt-dev python3 python3-prometheus-client python3-yaml
	# container image, unit check
	buildah systemd
	# man page check
	man-db groff-base
)
if [[ ${1:-} == --only ]]; then
	read -ra packages <<<"$2"
fi
missing=()
for package in "${packages[@]}"; do
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if [[ ${1:-} == --missing ]]; then
	echo "${missing[@]}"
	exit
fi
((${#missing[@]})) || exit 0
if ((EUID)); then
	echo "missing packages: ${missing[*]}; install them, or run this as root (sudo make deps)" >&2
	exit 1
fi
echo "installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
{ apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	echo "installing failed: see above; is the package mirror of /etc/apt reachable?" >&2
	exit 1
}
