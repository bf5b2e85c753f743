#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that Alertmanager accepts its configuration and VictoriaMetrics' vmalert the rules, and with a real fleet of targets what live.py does.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
sample=$top/build/tests/write_sample
[[ -x $sample ]] || {
	echo "$sample is missing: run 'make tests' first" >&2
	exit 1
}
tool() { "$top/tests/vm/tool.sh" "$@"; }
work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-live.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$(tool prometheus-alertmanager usr/bin/amtool)" check-config "$top/deploy/prometheus/alertmanager.yml" >"$work/amtool" 2>&1 || {
	cat "$work/amtool" >&2
	exit 1
}
"$(tool victoria-metrics usr/bin/vmalert)" -dryRun -rule="$top/deploy/prometheus/*s.yaml" \
	-rule="$top/deploy/prometheus/reliability.yaml" >"$work/vmalert" 2>&1 || {
	tail -n 3 "$work/vmalert" >&2
	exit 1
}
"$sample" prometheus node >"$work/sample"
mkdir "$work/live"

# Debian's Alertmanager reads these files at their place, also if all receivers are webhooks: it gets a /usr/share of its own.
tool prometheus-alertmanager usr/share/prometheus/alertmanager/email.tmpl >"$work/path"
template=$(tool prometheus-alertmanager usr/share/prometheus/alertmanager/default.tmpl)
cat >"$work/alertmanager" <<EOF
#!/bin/sh
mount --bind "${template%/prometheus/*}" /usr/share
exec "$(tool prometheus-alertmanager usr/bin/prometheus-alertmanager)" "\$@"
EOF
chmod +x "$work/alertmanager"
unshare --map-root-user --mount true 2>"$work/unshare" || {
	echo "no user namespaces, which Debian's Alertmanager needs here: $(<"$work/unshare")"
	exit 77
}
/usr/bin/python3 "$here/live.py" "$(tool prometheus usr/bin/prometheus)" "$work/alertmanager" "$work/sample" "$work/live" || {
	tail -n 5 "$work/live/log" >&2
	exit 1
}
