#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the chart gives the objects that kustomize gives, for seven sets of values, and that helm refuses values that it does
# not know. Exit 77: helm or kubectl cannot be had here.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
helm=$("$here/helm.sh" 2>&1) || {
	status=$?
	echo "$helm"
	exit $status
}
kubectl=$("$here/../vm/tool.sh" kubernetes-client usr/bin/kubectl)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work
digest=sha256:$(printf '%064d' 7)

runbook=https://runbooks.example.org/RUNBOOK.md
RUNBOOK=$runbook "$top/deploy/kubernetes/render.sh" "$kubectl" registry.example.org/xidscope:1.2.3 1.2.3 "$work/expected" 2>"$work/log"
"$top/deploy/helm/package.sh" 1.2.3 registry.example.org/xidscope "$work/chart.tgz"
"$helm" lint --strict "$work/chart.tgz" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
"$top/deploy/helm/package.sh" 1.2.3 registry.example.org/xidscope "$work/again.tgz"
cmp "$work/chart.tgz" "$work/again.tgz"

template() { # SET NAMESPACE OPTION...
	"$helm" template xidscope "$work/chart.tgz" --namespace "$2" "${@:3}" >"$work/$1.yaml" 2>"$work/log" || { cat "$work/log" && exit 1; }
}
template xidscope xidscope
template least-privilege xidscope --set privileges=least
template older xidscope --set privileges=least --kube-version 1.29.9
template scraped xidscope --set scrape=pod
template kube-prometheus-stack monitoring
template objects monitoring --set rules.enabled=true,rules.runbook=$runbook --set dashboards.enabled=true --set scrape=pod --set exporter.podMonitor=false
cat >"$work/values" <<END
image: {digest: "$digest"}
imagePullSecrets: [{name: ours}]
nodeSelector: {nvidia.com/gpu.present: "true", number: "007"}
tolerations: [{key: gpu, operator: Equal, value: "1e3", effect: NoExecute, tolerationSeconds: 60}]
options: [--detail, op, --storage, "a'b=\"*\", {{ .Release.Name }}: #", "yes"]
resources: {limits: {cpu: 300m, memory: 128Mi, ephemeral-storage: null}, requests: {cpu: 300m, memory: 128Mi}}
textfile: /srv/textfile
scrape: pod
privileges: least
exporter: {image: "mirror.example.org/node-exporter:v1", podMonitorLabels: {release: null, team: ours}}
END
template changed xidscope -f "$work/values"
/usr/bin/python3 - "$work" "$top/deploy" "$digest" <<'END'
import copy
import difflib
import json
import pathlib
import sys
import yaml

work, deploy, digest = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]


def objects(path):
    """By kind and name; kustomize and helm put containers in different orders."""
    found = {}
    for each in yaml.safe_load_all(path.read_text()):
        if each["kind"] == "Namespace":  # helm's --create-namespace
            continue
        if each["kind"] == "DaemonSet":
            each["spec"]["template"]["spec"]["containers"].sort(key=lambda c: c["name"])
        if each["kind"] == "PrometheusRule":  # rendered without a namespace
            each["metadata"].pop("namespace", None)
        found[each["kind"], each["metadata"]["name"]] = each
    return found


def same(name, ours, wanted):
    for key in sorted(set(ours) | set(wanted)):
        a, b = (json.dumps(o.get(key), indent=1, sort_keys=True).splitlines() for o in (ours, wanted))
        if a != b:
            sys.exit("\n".join(difflib.unified_diff(a, b, f"helm: {name}: {key}", "kustomize", lineterm="")))


for name in "xidscope", "least-privilege", "scraped", "kube-prometheus-stack":
    same(name, objects(work / f"{name}.yaml"), objects(work / "expected" / f"{name}.yaml"))

older = copy.deepcopy(objects(work / "least-privilege.yaml"))
pod = older["DaemonSet", "xidscope"]["spec"]["template"]
pod["metadata"]["annotations"] = {"container.apparmor.security.beta.kubernetes.io/xidscope": "unconfined"}
del pod["spec"]["containers"][0]["securityContext"]["appArmorProfile"]
same("older", objects(work / "older.yaml"), older)

ours = objects(work / "objects.yaml")
same("rules", {k: v for k, v in ours.items() if k[0] == "PrometheusRule"},
     {k: v for path in (work / "expected").glob("prometheus-*.yaml") for k, v in objects(path).items()})
pages = {k[1]: v for k, v in ours.items() if k[0] == "ConfigMap"}
for path in (deploy / "grafana").glob("*.json"):
    page = pages.pop(f"xidscope-dashboard-{path.stem}")
    assert page["metadata"]["labels"]["grafana_dashboard"] == "1", page["metadata"]
    assert page["data"] == {f"xidscope-{path.name}": path.read_text()}, path
assert not pages and ("PodMonitor", "xidscope") not in ours, pages

assert "file:" not in yaml.dump([v for k, v in ours.items() if k[1] == "xidscope-alerts"]), "an alert leads to a file"

# A kernel may lack what is mounted in sysfs, where nobody can make a folder: the pod would not start.
volumes = objects(work / "xidscope.yaml")["DaemonSet", "xidscope"]["spec"]["template"]["spec"]["volumes"]
assert all(v["hostPath"]["type"] == "DirectoryOrCreate" or v["hostPath"]["path"] == "/sys/kernel" for v in volumes), volumes

# On nodes that can run such pods, and on no others: a pod that never runs stops a rollout.
for manifest, name in ("xidscope", "xidscope"), ("npd", "xidscope-npd"):
    pod = objects(work / "expected" / f"{manifest}.yaml")["DaemonSet", name]["spec"]["template"]["spec"]
    [term] = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    for wanted, more in ((True, {}), (False, {"kubernetes.io/os": "windows"}), (False, {"type": "virtual-kubelet"}),
                         (False, {"eks.amazonaws.com/compute-type": "fargate"})):
        labels = {"kubernetes.io/os": "linux", **more}
        assert wanted == all((labels.get(e["key"]) in e["values"]) == (e["operator"] == "In") for e in term["matchExpressions"]), labels

# The label `node` is the same, whichever node_exporter serves the file.
values = yaml.safe_load((work / "expected" / "kube-prometheus-stack-values.yaml").read_text())
monitor = objects(work / "scraped.yaml")["PodMonitor", "xidscope"]
assert (values["prometheus-node-exporter"]["prometheus"]["monitor"]["relabelings"] ==
        monitor["spec"]["podMetricsEndpoints"][0]["relabelings"][:1]), values

ours, wanted = objects(work / "changed.yaml"), copy.deepcopy(objects(work / "expected" / "scraped.yaml"))
wanted["PodMonitor", "xidscope"]["metadata"]["labels"]["team"] = "ours"
del wanted["PodMonitor", "xidscope"]["metadata"]["labels"]["release"]
pod = wanted["DaemonSet", "xidscope"]["spec"]["template"]["spec"]
least = objects(work / "expected" / "least-privilege.yaml")["DaemonSet", "xidscope"]["spec"]["template"]["spec"]
exporter, agent = pod["containers"]
exporter["image"] = "mirror.example.org/node-exporter:v1"
agent["image"] = "registry.example.org/xidscope@" + digest
agent["args"] += ["--detail", "op", "--storage", "a'b=\"*\", {{ .Release.Name }}: #", "yes"]
agent["resources"] = {kind: {"cpu": "300m", "memory": "128Mi"} for kind in ("limits", "requests")}
agent["securityContext"] = least["containers"][0]["securityContext"]
pod.update(imagePullSecrets=[{"name": "ours"}], nodeSelector={"nvidia.com/gpu.present": "true", "number": "007"},
           tolerations=[{"key": "gpu", "operator": "Equal", "value": "1e3", "effect": "NoExecute", "tolerationSeconds": 60}])
same("changed", ours, wanted)
END

for wrong in scrape=prometheus image.digest=1 resource.limits=1 privileges=none textfile=here rules.runbook={here,'https://a"b','https://a\{\{b'} {image,exporter,options,rules}=null \
	{options,tolerations}={} resources.{limit.cpu=1,limits=1} tolerations[0].{keys=a,tolerationSeconds=a} imagePullSecrets[0].nme=a nodeSelector.a=1 \
	'options={--verbose,--state=x}' 'options={--health}'; do
	! "$helm" template x "$work/chart.tgz" --set "$wrong" >/dev/null 2>"$work/log" || { echo "helm takes $wrong" && exit 1; }
	grep -qE "values don't meet the specifications of the schema|options: --(state=x|health) cannot be set" "$work/log" || { cat "$work/log" && exit 1; }
done
echo "seven sets of values give kustomize's objects; helm refuses wrong ones"
