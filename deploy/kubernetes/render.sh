#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Renders each kustomization, with an image and its version, and each file of alert rules as a PrometheusRule; `make
# manifests` calls it: render.sh KUBECTL IMAGE VERSION OUT
# RUNBOOK is the runbook's address, to which the alerts lead.
set -euo pipefail
runbook=${RUNBOOK:-file:///usr/share/xidscope/docs/RUNBOOK.md} kubectl=$1 image=$2 version=$3 out=$(realpath -m "$4")
cd "$(dirname "$(realpath "$0")")/.."
mkdir -p "$out"
for folder in kubernetes/base kubernetes/overlays/* npd; do
	"$kubectl" kustomize "$folder" >"$out/.rendered"
	# kustomize 2.0.3 gives a PriorityClass a namespace, which it cannot have.
	sed -E -e '/^kind: PriorityClass$/,/^---$/{/^  namespace: /d}' -e "s|^( *)(- )?image: xidscope$|\1\2image: $image|" \
		-e "s|image: (node-problem-detector-xidscope)$|image: ${image%/*}/\1:$version|" \
		-e "s|^(    )app.kubernetes.io/part-of: .*|&\n\1app.kubernetes.io/version: \"$version\"|" "$out/.rendered" >"$out/${folder##*/}.yaml"
done
rm "$out/.rendered"
mv "$out/base.yaml" "$out/xidscope.yaml"
cp kubernetes/overlays/kube-prometheus-stack/values.yaml "$out/kube-prometheus-stack-values.yaml"
for rules in prometheus/*.yaml; do
	grep -q '^groups:' "$rules" || continue
	name=$(basename "$rules" .yaml)
	{
		# The chart kube-prometheus-stack selects by the label of its release.
		printf '%s\n' 'apiVersion: monitoring.coreos.com/v1' 'kind: PrometheusRule' 'metadata:' "  name: xidscope-$name" \
			'  labels:' '    app.kubernetes.io/name: xidscope' '    release: kube-prometheus-stack' 'spec:'
		sed "s|file:///[^ ]*/RUNBOOK.md|${runbook//&/\\&}|; s/^./  &/" "$rules"
	} >"$out/prometheus-$name.yaml"
done
