#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that upgrades and rolls back the DaemonSet's agent in a guest: prepare.sh JOBDIR. Needs what `make previous`
# leaves.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/vm/previous-lib.sh
. "$here/../previous-lib.sh"
"$here/../container/prepare.sh" "$job"
"$root/deploy/container/build.sh" "$job/image.tar" "$before/root/usr/sbin/xidscope"
"$here/../container/bundle.py" "$job/image.tar" "$before/source/deploy/kubernetes/daemonset.yaml" "$job/previous"
rm "$job/image.tar"
cp "$before/version" "$job/previous/"
"$root/build/xidscope" version | sed 's/.* //' >"$job/privileged/version"
cp "$root/tests/vm/upgrade-lib.sh" "$job/"
cp "$here/guest.sh" "$job/run.sh"
