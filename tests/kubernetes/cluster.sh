#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves what deploy/kubernetes/README.md says, with Kubernetes' own control plane (build.sh): a line for each claim, then
# "N passed, N failed". Each part has a control plane in namespaces of its own, and all run at once: cluster.sh [PART...]
set -uo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
deploy=$root/deploy/kubernetes
if [[ ${1:-} != inside ]]; then
	parts=("$@")
	((${#parts[@]})) || parts=(manifests node)
	daemons=$("$here/build.sh") && etcd=$("$here/../vm/tool.sh" etcd-server usr/bin/etcd) &&
		kubectl=$("$here/../vm/tool.sh" kubernetes-client usr/bin/kubectl) || exit 1
	helm=$("$here/helm.sh") || echo "skip helm against the API server: it cannot be had here"
	export helm
	if [[ " ${parts[*]} " == *" node "* ]]; then # what needs the network
		vm=$here/../vm
		busybox=$("$vm/tool.sh" busybox-static bin/busybox) && drivers=$("$vm/modules.sh" 6.1) && base=$("$here/images.sh") &&
			"$vm/image.sh" kubelet "$here/rootfs.packages" >/dev/null && prometheus=$("$vm/tool.sh" prometheus usr/bin/prometheus) &&
			exporter=$("$vm/tool.sh" prometheus-node-exporter usr/bin/prometheus-node-exporter) || exit 1
		export busybox drivers base prometheus exporter
	fi
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/bin" && ln -s "$daemons"/* "$etcd" "$kubectl" "$work/bin/"
	run() { # PART
		mkdir "$work/$1"
		PATH=$work/bin:$PATH HOME=$work/$1 unshare --net --pid --fork --kill-child --mount-proc "$0" inside "$work/$1" ||
			echo "FAIL $1: ended early"
	}
	{
		for part in "${parts[@]}"; do
			run "$part" &
			[[ $part == node ]] || renice -n 10 "$!" >/dev/null # the guest's takes longest
		done
		wait
	} | tee "$work/claims"
	echo "$(grep -c '^ok ' "$work/claims") passed, $(grep -c '^FAIL ' "$work/claims") failed"
	! grep -q '^FAIL ' "$work/claims"
	exit
fi
work=$2
cd "$work" || exit
ip link set lo up
exec 3>&1 >>log 2>&1

# claim TEXT: that the command before it has succeeded. TEXT may have no $(...): its result would be judged.
claim() {
	if (($? == 0)); then
		echo "ok ${work##*/}: $1" >&3
	else
		echo "FAIL ${work##*/}: $1"$'\n'"$(tail -n 6 log | cut -c1-300 | sed 's/^/    /')" >&3
	fi
	: >log
}
# within SECONDS COMMAND...: until it succeeds.
within() {
	local end=$((SECONDS + $1))
	until "${@:2}"; do
		((SECONDS < end)) || return 1
		sleep 0.5
	done
}
is() { [[ $1 == "$2" ]] || { echo "'$1', not '$2'" && false; }; }

# ---- the control plane ----

access() { # FILE TOKEN
	cat >"$1" <<END
{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
 "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443", "insecure-skip-tls-verify": true}}],
 "users": [{"name": "u", "user": {"token": "$2"}}]}
END
}
start_api() {
	kube-apiserver --etcd-servers=http://127.0.0.1:2379 --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port=6443 \
		--endpoint-reconciler-type=none --kubelet-preferred-address-types=InternalIP --cert-dir=certificates --token-auth-file=tokens --service-cluster-ip-range=10.96.0.0/24 \
		--service-account-issuer=https://kubernetes.default.svc --service-account-key-file=key --service-account-signing-key-file=key \
		--authorization-mode=Node,RBAC --allow-privileged=true --profiling=false >>api.log 2>&1 &
	within 300 kubectl get --raw /readyz >/dev/null 2>&1
}
openssl genrsa -out key 2048 2>/dev/null
while read -r user group; do
	token=token-$user-$RANDOM$RANDOM
	access "$user" "$token"
	echo "$token,$user,$user,$group"
done >tokens <<'END'
admin system:masters
system:kube-controller-manager
system:kube-scheduler
system:node:guest system:nodes
END
admin=$(sed -n 's/,admin.*//p' tokens)
export KUBECONFIG=$work/admin
etcd --data-dir=data --listen-client-urls=http://127.0.0.1:2379 --advertise-client-urls=http://127.0.0.1:2379 \
	--listen-peer-urls=http://127.0.0.1:2380 --unsafe-no-fsync >etcd.log 2>&1 &
start_api || { tail -n 5 api.log >&2 && exit 1; }
kube-controller-manager --kubeconfig=system:kube-controller-manager --use-service-account-credentials=true \
	--service-account-private-key-file=key --root-ca-file=certificates/apiserver.crt --authentication-tolerate-lookup-failure --cert-dir=certificates --leader-elect=false \
	--bind-address=127.0.0.1 --node-monitor-period=2s >controllers.log 2>&1 &
kube-scheduler --kubeconfig=system:kube-scheduler --authentication-tolerate-lookup-failure --leader-elect=false \
	--bind-address=127.0.0.1 >scheduler.log 2>&1 &
# A namespace whose pods have not ended is looked at again after up to a minute, or 5 s after it has changed.
while sleep 2; do
	! pgrep -f '^kubectl delete' || kubectl get ns --field-selector status.phase=Terminating -o name |
		xargs -r kubectl annotate --overwrite "seen=$SECONDS"
done >/dev/null 2>&1 &

# Nodes n0 to n62, whose kubelets are kubelets.py.
has_ready() { is "$(kubectl get nodes --no-headers | grep -cw Ready)" "$1"; }
start_nodes() {
	: >dead
	"$here/kubelets.py" 127.0.0.1:6443 "$admin" run 63 "$work" >kubelets.log 2>&1 &
	within 120 has_ready 63
	claim "63 nodes are ready"
	# Each of these fails if a kubelet changes the node meanwhile.
	within 30 kubectl taint --overwrite nodes n1 nvidia.com/gpu=present:NoSchedule
	within 30 kubectl taint --overwrite nodes n2 example.org/maintenance=yes:NoExecute
	within 30 kubectl cordon n3
	within 30 kubectl label --overwrite nodes n{0..39} nvidia.com/gpu.present=true nvidia.com/gpu.product=H100
}
x() { kubectl -n xidscope "$@"; }
field() { x get daemonset xidscope -o "jsonpath={.status.$1}"; }
has() { is "$(field "$1")" "$2"; }
rolled() { x rollout status daemonset/xidscope --timeout=120s && within 20 has numberReady "$1"; }
# documented SECTION NUMBER: that block of commands of docs/DEPLOY.md.
documented() { bash -ec "$("$root/tests/docs/commands.sh" "$@")"; }
gone() { ! kubectl get all,ns,clusterrolebindings,clusterroles,priorityclasses,leases -A -o name | grep xidscope; }
token() { # ACCOUNT
	 x get secrets -o "jsonpath={.items[?(@.metadata.annotations.kubernetes\.io/service-account\.name=='$1')].data.token}" | base64 -d
}
# exporter IMAGE: a DaemonSet with the README's lines for node_exporter.
exporter() {
	cat <<END
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node-exporter, namespace: default}
spec:
  selector: {matchLabels: {app: e}}
  template:
    metadata: {labels: {app: e}}
    spec:
$(sed -n '/^## With a node_exporter/,/^## /{/^      /p}' "$deploy/README.md" |
		sed "s|- name: node-exporter|&\n          image: $1\n          command: [/bin/busybox, sh, -c, exec /bin/busybox sleep 1000000]|")
END
}
# The kinds of the Prometheus operator.
operator_kinds() {
	local kind
	for kind in PodMonitor PrometheusRule; do
		cat <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${kind,,}s.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: $kind, plural: ${kind,,}s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
END
	done | kubectl apply -f -
}
server_knows() { kubectl apply --dry-run=server "$@"; }
"$deploy/render.sh" kubectl registry.example.org/xidscope:1 1 manifests
# shellcheck source=/dev/null
. "$here/${work##*/}.sh"
