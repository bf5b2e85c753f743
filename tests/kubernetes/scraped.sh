# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The part of node.sh about the overlay `scraped`: Prometheus, outside, scrapes the pod as the operator would make it from the PodMonitor.
# shellcheck shell=bash disable=SC2154 # the variables and functions of cluster.sh and node.sh

operator_kinds
kubectl apply --validate=false -f manifests/scraped.yaml && x rollout status daemonset/xidscope --timeout=300s
claim "the variant with a node_exporter of its own starts"
# Prometheus finds the pod at its address, which leads to the node, and there to the pod.
ip route replace local 10.88.0.0/16 dev lo table local src 127.0.0.1
forwarded() {
	node "iptables -t nat -N pod && iptables -t nat -A PREROUTING -i eth0 -p tcp --dport 9100 -j pod; iptables -t nat -F pod
		iptables -t nat -A pod -p tcp -j DNAT --to $(x get pods -l app.kubernetes.io/name=xidscope -o 'jsonpath={.items[0].status.podIP}'):9100"
}
forwarded
# The alerts, with seconds for minutes.
sed -E 's/^( *for: [0-9]+)m$/\1s/; s/(xidscope\[\.\]prom"\}) > 120$/\1 > 60/' "$root/deploy/prometheus/alerts.yaml" >rules.yaml
/usr/bin/python3 - "$deploy/overlays/scraped/podmonitor.yaml" "$work/rules.yaml" >prometheus.json <<'END'
import json
import re
import sys
import yaml

monitor = yaml.safe_load(open(sys.argv[1]))
[endpoint] = monitor["spec"]["podMetricsEndpoints"]
labels = monitor["spec"]["selector"]["matchLabels"]
META = "__meta_kubernetes_"


def keep(label, value):
    return {"action": "keep", "source_labels": [META + label], "regex": value}


def copied(label, target):
    return {"source_labels": [META + label], "target_label": target}


# What the operator puts before the monitor's own.
relabel = [keep("pod_label_" + re.sub("[^a-zA-Z0-9]", "_", name), value) for name, value in labels.items()]
relabel += [keep("pod_container_port_name", endpoint["port"]), copied("namespace", "namespace"),
            copied("pod_container_name", "container"), copied("pod_name", "pod"),
            {"target_label": "job", "replacement": "xidscope/xidscope"}, {"target_label": "endpoint", "replacement": endpoint["port"]}]
relabel += [{re.sub("[A-Z]", lambda m: "_" + m[0].lower(), key): value for key, value in each.items()} for each in endpoint["relabelings"]]
json.dump({"global": {"scrape_interval": "10s", "evaluation_interval": "10s"}, "rule_files": [sys.argv[2]], "scrape_configs": [{
    "job_name": "xidscope", "relabel_configs": relabel,
    "file_sd_configs": [{"files": ["targets.json"], "refresh_interval": "1s"}]}]}, sys.stdout)
END
# Debian's Prometheus is built without the discovery of pods: this gives it the labels that the discovery has.
while sleep 2; do
	x get pods -o json | /usr/bin/python3 -c '
import json, sys
META = "__meta_kubernetes_"
targets = []
for pod in json.load(sys.stdin)["items"]:
    for container in pod["spec"]["containers"] if pod["status"].get("podIP") else []:
        for port in container.get("ports", [{}]):
            labels = {META + "namespace": pod["metadata"]["namespace"], META + "pod_name": pod["metadata"]["name"],
                      META + "pod_node_name": pod["spec"]["nodeName"], META + "pod_container_name": container["name"],
                      META + "pod_container_port_name": port.get("name", "")}
            labels |= {META + "pod_label_" + "".join(c if c.isalnum() else "_" for c in k): v for k, v in pod["metadata"]["labels"].items()}
            targets.append({"targets": [pod["status"]["podIP"] + ":%d" % port.get("containerPort", 0)], "labels": labels})
json.dump(targets, sys.stdout)' >targets.new && mv targets.new targets.json
done &
discovery=$!
"$prometheus" --config.file=prometheus.json --storage.tsdb.path=tsdb --web.listen-address=127.0.0.1:9090 &>prometheus.log &
scraper=$!
# asked QUERY: the labels and the value of each result, sorted, a line each.
asked() {
	/usr/bin/python3 -c '
import json, sys, urllib.parse, urllib.request
query = urllib.parse.urlencode({"query": sys.argv[1]}).encode()
for each in sorted(json.load(urllib.request.urlopen("http://127.0.0.1:9090/api/v1/query", query))["data"]["result"], key=str):
    print(" ".join(f"{k}={v}" for k, v in sorted(each["metric"].items()) if k != "__name__"), each["value"][1])' "$1"
}
asks() { is "$(asked "$1")" "$2"; }
target='instance=guest job=xidscope/xidscope namespace=xidscope node=guest'
# fires [ALERT]: of those about an agent that is not seen, this one alone.
fires() {
	local alert=${1:+alertname=$1 node=guest 1}
	asks 'count by (alertname, node) (ALERTS{alertstate="firing", alertname=~"NodeDown|Xidscope(FileStale|Gone|Missing)"}) or on () vector(0)' \
		"${alert:- 0}"
}
within 240 asks up "$target 1"
claim "Prometheus scrapes it; the target has the node's name, and no pod's"
within 120 asks 'xidscope_rpc_source{source="btf"}' 'instance=guest job=xidscope/xidscope namespace=xidscope node=guest source=btf 1' &&
	asks 'count({__name__=~"go_.*|process_.*|node_cpu.*"})' ''
claim "it has the agent's series, with the source btf, and none of the exporter's own"
! node "ss -lntH | grep -w 9100"
claim "the node has no port for it"
calls='sum(xidscope_rpc_op_calls_total)'
node 'dd if=/dev/zero of=/mnt/data/scraped bs=64k count=10 conv=fsync'
more() { (($(asked "$calls" | tr -d ' ') > 0)); }
within 120 more && calls=$(asked "$calls")
claim "NFS calls of the node count, without its network:$calls"
within 120 asks 'count(ALERTS{alertname="DeadMansSwitch"})' ' 1' && within 120 fires ''
claim "no alert fires about it"
has_series() { asks 'count(xidscope_build_info) or vector(0)' " $1"; }
# The kubelet would start it again at once.
node 'pkill -STOP -x kubelet; kill -KILL "$(pgrep -xo xidscope)"'
within 240 fires XidscopeFileStale && asks up "$target 1" && has_series 1 && ! node 'pgrep -x xidscope'
claim "an agent that is killed: the target is up, its series stay, and XidscopeFileStale fires"
node 'rm "$(find /var/lib/kubelet/pods -name xidscope.prom)"'
within 240 fires XidscopeGone && asks up "$target 1" && has_series 0
claim "its file is removed: the target is up, its series end, and XidscopeGone fires"
node 'pkill -CONT -x kubelet'
within 300 has_series 1 && within 120 fires '' && [[ $(x get pods -o 'jsonpath={.items[*].status.containerStatuses[*].restartCount}') == *1* ]]
claim "the kubelet starts it again: its series are back, and no alert fires"
node '(for each in s u b; do sleep 1; echo $each >/proc/sysrq-trigger; done) >/dev/null 2>&1 &'
within 300 fires NodeDown && asks up "$target 0" && has_series 0
claim "its node is rebooted: the target is down, its series end, and NodeDown fires"
answers() { forwarded && asks up "$target 1"; }
within 900 answers && within 300 has_series 1 && within 120 fires '' && booted=$(node 'sed -n "s/^btime //p" /proc/stat') &&
	asks "count(node_textfile_mtime_seconds > $booted)" ' 1' && is "$(node "find /var/lib/kubelet/pods -name xidscope.prom ! -newermt @$booted | wc -l")" 0
claim "and back: the target is up with a file of the new boot, the old one is gone, and no alert fires"
kubectl delete -f manifests/scraped.yaml && within 120 asks 'count(up)' ''
claim "a pod that is gone: its target and its series end"
kill "$scraper" "$discovery"
