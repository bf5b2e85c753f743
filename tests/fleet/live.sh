#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that Alertmanager accepts its configuration and VictoriaMetrics' vmalert the rules, and what live.py does with the
# files that recording/record.sh has left in FOLDER: live.sh FOLDER. Without a folder, shorter, with files made from a sample.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../..
tool() { "$top/tests/vm/tool.sh" "$@"; }
work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-live.XXXXXX")
trap 'rm -rf "$work"' EXIT

amtool=$(tool prometheus-alertmanager usr/bin/amtool)
PATH=${amtool%/*}:$PATH
amtool check-config "$top/deploy/prometheus/alertmanager.yml" >"$work/amtool" 2>&1 || {
	cat "$work/amtool" >&2
	exit 1
}
"$(tool victoria-metrics usr/bin/vmalert)" -dryRun -rule="$top/deploy/prometheus/*s.yaml" \
	-rule="$top/deploy/prometheus/reliability.yaml" >"$work/vmalert" 2>&1 || {
	tail -n 3 "$work/vmalert" >&2
	exit 1
}

# state NAME SERVER: 40 s of a node with two of the sample's servers; the calls to this one hang.
state() {
	mkdir -p "$work/states"
	awk -v folder="$work/states" -v state="$1" -v hangs="$2" '
		BEGIN { names["10.0.1.1"] = "pool"; names["10.0.2.1"] = "home" }
		/server="nas-1.example.com"/ && /^xidscope_rpc_(op_calls|retransmits|oldest_waiter|phase)_/ && !/"OP_[1-9]|dma|tcp.1/ {
			series[++count] = $1
			value[count] = $2
		}
		function shown(series, value, hung) {
			if (series ~ /oldest/) return hung && series ~ /pending/ ? second : 0
			return value * (1 + (hung ? 0 : second / 100))
		}
		END {
			for (second = 0; second < 40; second++) {
				file = folder "/" second "-" state
				print "xidscope_build_info{version=\"sample\"} 1" >file
				for (server in names) {
					print "xidscope_rpc_server_info{server=\"" server "\",storage=\"" names[server] "\"} 1" >file
					for (i = 1; i <= count; i++) {
						line = series[i]
						sub("nas-1.example.com", server, line)
						print line, shown(line, value[i], server == hangs) >file
					}
				}
				close(file)
			}
		}' "$work/sample"
}

if (($#)); then
	live=("$1")
else
	sample=$top/build/tests/write_sample
	[[ -x $sample ]] || {
		echo "$sample is missing: run 'make tests' first" >&2
		exit 1
	}
	"$sample" prometheus node >"$work/sample"
	state usual none
	state dead 10.0.1.1
	state hung 10.0.2.1
	live=("$work/states" --sample "$work/sample")
fi

# Debian's Alertmanager reads these files at their place, also if all receivers are webhooks: it gets a /usr/share of its own.
tool prometheus-alertmanager usr/share/prometheus/alertmanager/email.tmpl >"$work/path"
template=$(tool prometheus-alertmanager usr/share/prometheus/alertmanager/default.tmpl)
cat >"$work/alertmanager" <<END
#!/bin/sh
mount --bind "${template%/prometheus/*}" /usr/share
exec "$(tool prometheus-alertmanager usr/bin/prometheus-alertmanager)" "\$@"
END
chmod +x "$work/alertmanager"
unshare --map-root-user --mount true 2>"$work/unshare" || {
	echo "no user namespaces, which Debian's Alertmanager needs here: $(<"$work/unshare")"
	exit 77
}
mkdir "$work/live"
/usr/bin/python3 "$here/live.py" "$(tool prometheus usr/bin/prometheus)" "$work/alertmanager" "$work/live" "${live[@]}" || {
	tail -n 5 "$work/live/log" >&2
	exit 1
}
