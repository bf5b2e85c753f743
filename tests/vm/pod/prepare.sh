#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that upgrades and rolls back the DaemonSet's agent in a guest: prepare.sh JOBDIR. Needs what `make previous`
# leaves.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../../..")
job=$1 previous=$root/build/previous
[[ -e $previous/version ]] || {
	echo "prepare.sh: error: no version before in build/previous: run 'make previous'" >&2
	exit 1
}
"$here/../container/prepare.sh" "$job"
"$root/deploy/container/build.sh" "$job/image.tar" "$previous/root/usr/sbin/xidscope"
"$here/../container/bundle.py" "$job/image.tar" "$previous/source/deploy/kubernetes/daemonset.yaml" "$job/previous"
rm "$job/image.tar"
cp "$previous/version" "$job/previous/"
"$root/build/xidscope" version | sed 's/.* //' >"$job/privileged/version"
cp "$root/tests/vm/upgrade-lib.sh" "$job/"
cp "$here/guest.sh" "$job/run.sh"
