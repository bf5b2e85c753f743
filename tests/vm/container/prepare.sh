#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs the image in a guest, under the settings of the DaemonSet and of its least-privilege variant:
# prepare.sh JOBDIR
set -euo pipefail

die() {
	echo "prepare.sh: error: $*" >&2
	exit 1
}
(($# == 1)) || die "usage: prepare.sh JOBDIR"
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../../..")
job=$1
type -P python3 >/dev/null || die "'python3' is missing: run 'make deps' as root"

rm -rf "$job"
mkdir -p "$job"
"$root/deploy/container/build.sh" "$root/build/xidscope" "$job/image.tar"
bundle() { # bundle NAME [OPTION...]
	"$here/bundle.py" "${@:2}" "$job/image.tar" "$root/deploy/kubernetes/daemonset.yaml" "$job/$1"
}
least() {
	bundle "$1" --patch "$root/deploy/kubernetes/least-privilege.yaml" "${@:2}"
}
bundle privileged
least least
least kmsg-mounted --mount-kmsg
least kmsg-allowed --allow-kmsg
for capability in SYS_ADMIN SYSLOG SYS_RESOURCE DAC_OVERRIDE; do
	least "no-$capability" --without "$capability"
done
rm "$job/image.tar"
cp "$root/tests/vm/deploy-lib.sh" "$job/"
cp "$here/guest.sh" "$job/run.sh"
