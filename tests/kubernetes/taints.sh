# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The part of cluster.sh about node-problem-detector's condition and the loop of deploy/kubernetes/taints, which runs here as
# its service account, twice: one waits for the other's end.
# shellcheck shell=bash disable=SC2154 # the variables and functions of cluster.sh

start_nodes
kubectl delete node n{50..56}
printf 'n%d\n' {50..56} >dead
kubectl apply -f manifests/xidscope.yaml
kubectl kustomize "$root/deploy/npd" | sed 's|image: node-problem-detector-xidscope|image: r/npd:1|' | kubectl apply -f - &&
	x rollout status daemonset/xidscope-npd --timeout=60s
claim "node-problem-detector runs on all nodes"
kubectl apply -f manifests/taints.yaml && x rollout status deployment/xidscope-taints --timeout=60s
claim "the loop of deploy/kubernetes/taints is deployed"

# may ACCOUNT VERB RESOURCE ARGUMENT...
may() { kubectl auth can-i --as="system:serviceaccount:xidscope:$1" "${@:2}"; }
may xidscope-npd patch nodes --subresource=status && may xidscope-npd create events -n default && ! may xidscope-npd patch nodes &&
	! may xidscope-npd delete pods -n xidscope && ! may xidscope-npd get secrets -n xidscope
claim "node-problem-detector may write conditions and events, and neither taints nor anything else"
may xidscope-taints list nodes && may xidscope-taints patch nodes && may xidscope-taints create events -n default &&
	may xidscope-taints patch leases/xidscope-taints -n xidscope && ! may xidscope-taints patch nodes --subresource=status &&
	! may xidscope-taints delete nodes && ! may xidscope-taints patch leases -n kube-node-lease &&
	! may xidscope-taints get secrets -n xidscope && ! may xidscope-taints delete pods -n xidscope
claim "the loop may write nodes, events and its lease, and nothing else"
! may default list nodes
claim "the agent may do nothing"

npd=$(token xidscope-npd)
condition() { "$here/kubelets.py" 127.0.0.1:6443 "$npd" condition "$@"; } # STATUS MESSAGE NODE...
access loop "$(token xidscope-taints)"
loops=()
begin() { # NAME
	XIDSCOPE_STATE_DIR=$work/$1 KUBECONFIG=$work/loop unshare --uts sh -c "hostname $1; exec sh '$deploy/taints/xidscope-taints'" >>"$1.log" 2>&1 &
	loops+=($!)
}
tainted() { kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.taints}{"\n"}{end}' | sed -n 's/ .*"key":"xidscope\/fault","value":"true".*//p'; }
has_tainted() { is "$(tainted | sort | tr '\n' ' ')" "${1:+$1 }"; }
renewed() { x get lease xidscope-taints -o 'jsonpath={.spec.renewTime}{"\n"}'; }
holder() { x get lease xidscope-taints -o 'jsonpath={.spec.holderIdentity}'; }
held_by() { is "$(holder)" "$1"; }
events() { kubectl get events -o 'jsonpath={range .items[*]}{.involvedObject.name} {.reason} {.message}{"\n"}{end}' | grep "$1"; }
others() { kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.taints[*].key}{"\n"}{end}' | sed 's/ xidscope\/fault//' | sort; }

condition False "no open fault" n{0..49} n{57..62}
before=$(others)
begin first
within 30 held_by first
claim "a loop takes the lease"
begin second
while sleep 0.5; do renewed; done >renewals &
sampling=$!
condition True "Xid 79 on 0000:c1:00.0, 2 times" n1 && within 30 has_tainted n1
claim "a node whose condition is True is tainted within 30 s"
within 30 events '^n1 XidscopeTainted .*Xid 79 on 0000:c1:00.0, 2 times'
claim "and has an event that says why"
is "$(kubectl get nodes n1 -o "$(sed -n "s/.*-o \(custom-columns='.*'\)$/\1/p" "$root/deploy/npd/README.md" | tr -d "'")" | tail -n 1)" "n1     Xid 79 on 0000:c1:00.0, 2 times"
claim "the columns of deploy/npd show the fault"
kubectl taint nodes n4 xidscope/fault=person:NoExecute
condition False "no open fault" n1 && within 30 has_tainted "" && is "$(kubectl get nodes n1 n4 -o 'jsonpath={.items[*].spec.taints[*].key}')" "nvidia.com/gpu xidscope/fault"
claim "recovery removes the loop's own taint, and no other"
within 30 events '^n1 XidscopeUntainted '
claim "and has an event"
condition Unknown "the agent has stopped" n5 && condition True "Xid 48" n4 && sleep 15 && has_tainted ""
claim "a node in an unknown state, or with a person's taint of this key, is left alone"
kill "$sampling"
sort -u renewals | date -f - +%s | awk 'NR > 1 && (!least || $1 - before < least) { least = $1 - before } { before = $1 } END { print least; exit !(least >= 10 && least <= 30) }'
claim "the loop looks at the nodes every 10 seconds, more seldom on a busy machine"
condition False "no open fault" n4 n5
kubectl taint nodes n4 xidscope/fault-

# 37 nodes with GPUs of one kind, 3 of another, and 16 without: at most 7, 1 and 3.
kubectl label --overwrite nodes n{37..39} nvidia.com/gpu.product=A100
pools() { tainted | awk '{ i = substr($1, 2); n[(i > 36) + (i > 39)]++ } END { print n[0] + 0, n[1] + 0, n[2] + 0 }'; }
count() { while sleep 0.5; do pools; done; }
count >counts &
counting=$!
full() { is "$(pools)" "7 1 3"; }
never_more() { ! awk '$1 > 7 || $2 > 1 || $3 > 3' counts | grep .; }
condition True "the storage system is dead" n{30..36} && sleep 1 && condition True "the storage system is dead" n{0..29} n{37..49} n{57..62} &&
	within 30 full && sleep 15 && full && never_more
claim "all nodes fail at once: a fifth of each pool is tainted, of a small one one node, and never more"
is "$(tainted | tr -d n | awk '$1 < 37' | sort -n | xargs)" "30 31 32 33 34 35 36"
claim "those that failed first"
told() { is "$(events XidscopeLimit | cut -d ' ' -f 1 | sort -u | wc -l)" 45; }
within 60 told && is "$(events XidscopeLimit | wc -l)" 45
claim "each other node has one event that says that the limit is reached"
well=$(tainted | head -n 1)
condition False "no open fault" "$well"
moved() { ! tainted | grep -x "$well" && full; }
within 40 moved && never_more
claim "a node that recovers makes room for another"

kill -STOP "${loops[0]}"
frozen=$SECONDS
kill "$api"
sleep "${XIDSCOPE_AWAY:-20}" # seconds; a longer time once by hand
start_api && within 90 held_by second && ((SECONDS - frozen > 45))
claim "the API server was away and the loop frozen: the other takes the lease, after $((SECONDS - frozen)) s"
kill -CONT "${loops[0]}"
read -ra half < <(printf 'n%d ' {20..49} {57..62})
condition False "no open fault" "${half[@]}"
right() { is "$(pools)" "7 0 0"; }
within 600 right && sleep 15 && right && never_more && held_by second
claim "nothing is lost, and the one that was frozen does not act"
kubectl -n default delete rolebinding xidscope-taints
condition False "no open fault" n{0..19} && within 40 has_tainted ""
claim "without a right to write events, taints are removed all the same"
untold() { is "$(events XidscopeUntainted | cut -d ' ' -f 1 | sort -u | wc -l)" "$1"; }
kubectl apply -f manifests/taints.yaml
every=$(cat first.log second.log | grep XidscopeTainted | cut -d : -f 1 | sort -u | wc -l)
within 60 untold "$every"
claim "and the events follow when they can be written"
kill "${loops[1]}"
within 30 held_by first
claim "a loop that is ended leaves the lease to the other at once"
is "$(others)" "$before"
claim "the taints of others are as they were"
kill "$counting" "${loops[0]}"

condition True "Xid 79" n7
kubectl taint nodes n7 n8 xidscope/fault=true:NoSchedule
to_remove
bash -e remove && has_tainted ""
claim "what the README says removes the loop and its taints"
kubectl apply -f manifests/taints.yaml && kubectl delete -f manifests/xidscope.yaml && is "$(kubectl get daemonsets,deployments -A -o name)" ""
claim "with the base goes its namespace, with the loop and node-problem-detector"
kubectl delete --ignore-not-found -f manifests/taints.yaml -f manifests/npd.yaml && within 60 gone
claim "then nothing is left"
type=$(sed -n 's/.*"condition": "\(.*\)",/\1/p' "$root/deploy/npd/xidscope-monitor.json")
grep "c.type == \"$type\" && c.status == \"True\"" "$deploy/README.md" && grep "unhealthyConditions: \[{type: $type, status: \"True\"" "$deploy/README.md"
claim "the lines for NVSentinel and Cluster API name the condition"
