# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The part of cluster.sh about the manifests: all of them, rollouts, dead nodes, and what is left.
# shellcheck shell=bash disable=SC2154 # the variables and functions of cluster.sh

start_nodes
# A rollout, with the most pods that were missing at once.
tenth_at_a_time() { # COMMAND...
	local lines
	lines=$(wc -l <pods)
	"$@" && rolled 63 && is "$(tail -n "+$((lines + 1))" pods |
		awk '{ missing += $1 == "-" ? 1 : -1; if (missing > most) most = missing } END { print most, NR }')" "7 126"
}

kubectl apply -k "$deploy/base"
claim "apply -k base"
rolled 63
claim "rollout status ends when the agent is on all nodes, tainted and cordoned ones included"
within 30 kubectl label --overwrite nodes n4 kubernetes.io/os=windows && within 60 has numberReady 62 &&
	within 30 kubectl label --overwrite nodes n4 kubernetes.io/os=linux && rolled 63
claim "a node of another system has none, until it is Linux"
kubectl create namespace monitoring
operator_kinds
for folder in kubernetes/base kubernetes/overlays/{kube-prometheus-stack,scraped} npd; do
	server_knows -k "$root/deploy/$folder"
	claim "apply -k $folder: Kubernetes 1.20 knows all fields"
done
is "$(server_knows -k "$deploy/overlays/least-privilege" 2>&1 | grep -o 'unknown field "[a-zA-Z]*"' | sort -u)" 'unknown field "appArmorProfile"'
claim "of the overlay with least privileges it does not know appArmorProfile, and nothing else"
cp -r "$deploy" older
sed -i -e '/appArmorProfile:/,+1d' -e '0,/^  template:$/s||&\n    metadata:\n      annotations: {container.apparmor.security.beta.kubernetes.io/xidscope: unconfined}|' \
	older/overlays/least-privilege/least-privilege.yaml
server_knows -k older/overlays/least-privilege
claim "with the annotation in its place it knows all"
sed -i 's/^\( *\)privileged: false/&\n\1seLinuxOptions: {type: spc_t}/' older/overlays/least-privilege/least-privilege.yaml
kubectl kustomize older/overlays/least-privilege | grep -A 1 seLinuxOptions | grep spc_t && server_knows -k older/overlays/least-privilege
claim "and with the type for SELinux"
one=$(x get pods -o name | head -n 1)
is "$(x get "$one" -o 'jsonpath={.spec.priority} {.spec.preemptionPolicy} {.spec.volumes[*].name}')" "1000000 Never textfile state run acks kernel"
claim "the pod has the priority, which evicts nobody, and no token"
has_settings() { # SETTINGS CONTAINER: of the pod and of its container
	is "$(x get daemonset xidscope -o 'jsonpath={.spec.template.spec.hostPID} {.spec.template.spec.hostNetwork} {.spec.template.spec.containers[0].volumeMounts[*].mountPath} {.spec.template.spec.containers[0].securityContext}')" \
		"true true /textfile /var/lib/xidscope /run/xidscope /etc/xidscope /sys/kernel {$1\"readOnlyRootFilesystem\":true,\"runAsUser\":0${2:-}}"
}
has_settings '"privileged":true,'
claim "and the settings of the README's table, its root file system read-only"

tenth_at_a_time documented 'Kubernetes' 2
claim "apply -f manifests/xidscope.yaml replaces a tenth of the agents at a time"
tenth_at_a_time x rollout restart daemonset/xidscope
claim "so does rollout restart"
stands_at() { is "$(field updatedNumberScheduled) $(field numberReady)" "$1"; }
x set image daemonset/xidscope xidscope=registry.example.org/xidscope:broken
within 30 stands_at "7 56" && sleep 5 && stands_at "7 56"
claim "a version that does not start stops the rollout at a tenth"
x rollout undo daemonset/xidscope && rolled 63
claim "rollout undo brings the old one back"
sed -i 's/xidscope:1$/xidscope:2/' manifests/xidscope.yaml
documented 'Upgrade and rollback' 3 && rolled 63 && is "$(x get pods -o 'jsonpath={.items[*].spec.containers[0].image}' | tr ' ' '\n' | sort | uniq -c | tr -s ' ')" \
	" 63 registry.example.org/xidscope:1"
claim "forth and back"
sed -i 's/xidscope:2$/xidscope:1/' manifests/xidscope.yaml

printf 'n%d\n' {50..56} >dead
within 120 has_ready 56
claim "nodes without a sign are not ready"
x rollout restart daemonset/xidscope
sleep 8 && has updatedNumberScheduled ""
claim "a rollout stands still if a tenth are dead"
patch=$(sed -n "s/^kubectl -n xidscope patch daemonset xidscope -p '\(.*\)'/\1/p" "$deploy/README.md")
x patch daemonset xidscope -p "$patch" && within 90 has updatedNumberScheduled 56
claim "it goes on if more may be missing"
: >dead
within 60 has_ready 63 && rolled 63
claim "and ends when the nodes are back"
kubectl apply -f manifests/xidscope.yaml # a tenth again
printf 'n%d\n' {50..56} >dead
within 120 has_ready 56
x rollout restart daemonset/xidscope
sleep 8 && has updatedNumberScheduled "" && kubectl delete node n{50..56} && rolled 56
claim "or if the dead nodes' objects are deleted"

kubectl apply -f manifests/kube-prometheus-stack.yaml && kubectl -n monitoring rollout status daemonset/xidscope --timeout=60s
claim "the overlay for kube-prometheus-stack runs in the namespace monitoring"
is "$(sed -n 's|.*--collector.textfile.directory=/host/root||p' manifests/kube-prometheus-stack-values.yaml)" "$(kubectl -n monitoring get daemonset xidscope -o 'jsonpath={.spec.template.spec.volumes[?(@.name=="textfile")].hostPath.path}')"
claim "its values have the folder of the metrics file"
kubectl delete -f manifests/kube-prometheus-stack.yaml
x delete "$(x get pods -o name | head -n 1)"
# The event says so, unless the DaemonSet has had too many of them.
refused() { grep 'no PriorityClass with name xidscope was found' controllers.log; }
within 30 refused && sleep 3 && is "$(x get pods -o name | wc -l)" 55
claim "deleting one variant takes the priority class that they share: the other gets no new pods"
all_there() { is "$(x get pods --no-headers | grep -c Running)" 56; }
kubectl apply -f manifests/xidscope.yaml && within 90 all_there
claim "applied again, it has all of its pods"
documented 'Uninstall' 3 && within 60 gone
claim "delete leaves nothing"
kubectl apply --validate=false -f manifests/least-privilege.yaml && rolled 56
claim "the variant with least privileges, after it"
# The unit's table and the README's.
capabilities=$(sed -n '/^| capability/,/^$/s/^| .\([A-Z][^|]*\).*/\1/p' "$deploy/README.md" "$root/deploy/systemd/README.md" | grep -o '[A-Z_]*' |
	sed 's/^CAP_//' | sort -u | sed 's|.*|"&"|' | paste -sd ,)
added=$(x get daemonset xidscope -o 'jsonpath={.spec.template.spec.containers[0].securityContext.capabilities.add}')
is "$(tr -d '[]' <<<"$added" | tr , '\n' | sort | paste -sd ,)" "$capabilities" &&
	has_settings "\"capabilities\":{\"add\":$added,\"drop\":[\"ALL\"]},\"privileged\":false," ',"seccompProfile":{"type":"RuntimeDefault"}'
claim "has no other capabilities than the tables of README and unit, and the runtime's default seccomp profile"
kubectl delete -f manifests/least-privilege.yaml && within 60 gone
sed -i 's/# \(nodeSelector:\)/\1/; s/# \( *nvidia.com\/gpu.present: "true"\)/\1/' older/agent/daemonset.yaml
kubectl apply -k older/base && rolled 40
claim "with nodeSelector it runs on the nodes with GPUs alone"
exporter e >exporter.yaml
server_knows -f exporter.yaml
claim "the lines for node_exporter are lines of a DaemonSet"
kubectl delete -k older/base && within 60 gone

if [[ $helm ]]; then
	"$root/deploy/helm/package.sh" 1.0.0 registry.example.org/xidscope chart.tgz
	h() { "$helm" --namespace xidscope "$@"; }
	monitors() { is "$(x get podmonitors,prometheusrules -o name | wc -l)" "$1"; }
	h install xidscope chart.tgz --create-namespace && rolled 56 && monitors 0
	claim "helm install: the agent is on all nodes"
	h upgrade xidscope chart.tgz --set scrape=pod,rules.enabled=true && rolled 56 && monitors 7 &&
		is "$(x get daemonset xidscope -o 'jsonpath={.spec.template.spec.containers[*].name}')" "xidscope node-exporter"
	claim "helm upgrade: with a node_exporter of its own, and rules"
	h upgrade xidscope chart.tgz --set privileges=least && rolled 56 && x get daemonset xidscope -o yaml | grep 'apparmor.*/xidscope: unconfined'
	claim "helm upgrade: with least privileges, which Kubernetes 1.20 has as an annotation"
	! h upgrade xidscope chart.tgz --set scrape=nobody && is "$(h list -o json | grep -o '"revision":"[0-9]*"')" '"revision":"3"'
	claim "helm refuses a value that it does not know, and changes nothing"
	h rollback xidscope 1 && rolled 56 && monitors 0 && is "$(x get daemonset xidscope -o 'jsonpath={.spec.template.spec.containers[*].name}')" xidscope
	claim "helm rollback brings the first back"
	h uninstall xidscope && kubectl delete namespace xidscope && within 60 gone
	claim "helm uninstall leaves nothing"
fi
