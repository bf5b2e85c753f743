#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs the image in a guest, under the DaemonSet's settings and under the systemd unit's:
# prepare.sh JOBDIR [DAEMONSET.yaml [UNIT.service]]
set -euo pipefail

die() {
	echo "prepare.sh: error: $*" >&2
	exit 1
}
(($# >= 1 && $# <= 3)) || die "usage: prepare.sh JOBDIR [DAEMONSET.yaml [UNIT.service]]"
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../../..")
job=$1
daemonset=${2:-$root/deploy/kubernetes/daemonset.yaml}
unit=${3:-$root/deploy/systemd/xidscope.service}
for command in python3 systemd-analyze; do
	type -P "$command" >/dev/null || die "'$command' is missing: run 'make deps' as root"
done

mkdir -p "$job"
rm -rf "$job"/{daemonset,unit,image.tar,run.sh}
"$root/deploy/container/build.sh" "$root/build/xidscope" "$job/image.tar"
"$here/bundle.py" daemonset "$job/image.tar" "$daemonset" "$job/daemonset"
"$here/bundle.py" unit "$job/image.tar" "$unit" "$job/unit"
rm "$job/image.tar"
cp "$here/guest.sh" "$job/run.sh"
