#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs the image in a guest, under the settings of the DaemonSet, of its least-privilege variant and of
# node-problem-detector's:
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
"$root/deploy/container/build.sh" "$job/image.tar" "$root/build/xidscope"
version=$("$root/build/xidscope" version)
version=${version##* }
kubectl=$("$here/../tool.sh" kubernetes-client usr/bin/kubectl)
"$root/deploy/kubernetes/render.sh" "$kubectl" "localhost/xidscope:$version" "$version" "$job/manifests"
# What this overlay runs is what the base runs.
pod() { sed -n '/^  template:/,/^---/p' "$job/manifests/$1.yaml" | grep -v '^---'; }
diff <(pod xidscope) <(pod kube-prometheus-stack) || die "the overlay kube-prometheus-stack runs something else: test it, too"
bundle() { # bundle NAME MANIFEST [OPTION...]
	"$here/bundle.py" "${@:3}" "$job/image.tar" "$job/manifests/$2.yaml" "$job/$1"
}
least() { bundle "$1" least-privilege "${@:2}"; }
bundle privileged xidscope
bundle npd npd --plugin
least least
least kmsg-mounted --mount-kmsg
least kmsg-allowed --allow-kmsg
for capability in SYS_ADMIN SYS_RESOURCE; do
	least "no-$capability" --without "$capability"
done
rm -r "$job/image.tar" "$job/manifests"
# The commands of docs/DEPLOY.md, by the runtime instead of the API server.
"$root/tests/docs/commands.sh" 'Kubernetes' 3 'kubectl -n xidscope exec daemonset/xidscope --=crun exec xidscope' >"$job/exec"
"$root/tests/docs/commands.sh" 'Uninstall' 4 >"$job/uninstall"
cp "$root/tests/vm/deploy-lib.sh" "$here/container-lib.sh" "$job/"
cp "$here/guest.sh" "$job/run.sh"
