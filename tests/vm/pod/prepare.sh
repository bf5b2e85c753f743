#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that upgrades and rolls back the DaemonSet's agent in a guest: prepare.sh JOBDIR
set -euo pipefail
here=$(realpath "$(dirname "$0")")
. "$here/../upgrade-job.sh"
"$here/../container/prepare.sh" "$job"
kubectl=$("$here/../tool.sh" kubernetes-client usr/bin/kubectl)
"$root/deploy/kubernetes/render.sh" "$kubectl" "localhost/xidscope:$older" "$older" "$job/manifests"
"$root/deploy/container/build.sh" "$job/image.tar" "$root/build/older/xidscope"
"$here/../container/bundle.py" "$job/image.tar" "$job/manifests/xidscope.yaml" "$job/older"
rm -r "$job/image.tar" "$job/manifests"
echo "$older" >"$job/older/version"
echo "$version" >"$job/privileged/version"
cp "$root/tests/vm/upgrade-lib.sh" "$job/"
cp "$here/guest.sh" "$job/run.sh"
