#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the page of `xidscope trace --html` draws all its parts in a browser without an error and without the network,
# that no name breaks out of it, and that axe finds nothing to complain about: at two widths, in both colour schemes.
#   check.sh [SCREENSHOTS]: also leaves four pictures in that folder
set -euo pipefail
top=$(realpath "$(dirname "$0")/../..")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pictures=${1:+$(realpath "$1")}
"$top/tests/page/contrast.py" "$top/user/sinks/page/page.css"
browser=$(command -v chromium) || {
	echo "chromium is missing: run 'make page-test' as root"
	exit 77
}
"$top/tests/npm.sh" "$top/build/page" axe-core@4.14.1
"$top/build/tests/write_recording" >"$dir/made.rec"
"$top/build/tests/write_recording" incident >"$dir/incident.rec"
"$top/build/xidscope" trace --replay "$dir/made.rec" --html "$dir/page.html" >/dev/null
"$top/build/xidscope" trace --replay "$dir/incident.rec" --html "$dir/incident.html" >/dev/null
# With axe, whose findings replace the page; what the page asks the network for would be an error of its policy.
{
	sed '/<\/body>/,$d' "$dir/page.html"
	echo '<script>'
	cat "$top/build/page/node_modules/axe-core/axe.min.js"
	echo '</script><script>'
	cat "$top/tests/page/run-axe.js"
	echo '</script></body></html>'
} >"$dir/axe.html"
failed=0
# run WIDTH SCHEME PAGE OPTION...: a frame is as narrow as a phone, a window of the browser is not.
run() {
	echo "<!DOCTYPE html><meta name=color-scheme content='light dark'><body style='margin:0'><iframe id=f src='$3'
		style='width:$1px;height:2600px;border:0'></iframe>" >"$dir/frame.html"
	timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$dir/profile" \
		--window-size="$1,${HEIGHT:-2600}" --blink-settings=preferredColorScheme="$([[ $2 == dark ]] && echo 0 || echo 1)" \
		--allow-file-access-from-files "${@:4}" 2>"$dir/browser.log"
}
for width in 390 1200; do
	for scheme in light dark; do
		run $width $scheme axe.html --virtual-time-budget=20000 --dump-dom "file://$dir/axe.html?$width" >"$dir/dom"
		found=$(sed -n 's/.*<pre id="findings">\(.*\)/\1/p' "$dir/dom" | sed 's/<\/pre>.*//')
		if [[ $found == 'fine: '* ]]; then
			echo "$width pixels, $scheme: $found"
		else
			echo "$width pixels, $scheme: ${found:-the page did not finish: $(tail -n 3 "$dir/browser.log")}"
			failed=1
		fi
		[[ ! $pictures ]] || HEIGHT=${HEIGHT:-1300} run $width $scheme incident.html --screenshot="$pictures/page-$width-$scheme.png" \
			"file://$dir/frame.html"
	done
done
# The headline is that of the report.
"$top/build/xidscope" trace --replay "$top/tests/data/slots.rec" --html "$dir/slots.html" >/dev/null
run 1200 light slots.html --virtual-time-budget=5000 --dump-dom "file://$dir/slots.html" >"$dir/dom"
grep -q 'warning</span> 127.0.0.1: bound by slot, confidence medium' "$dir/dom" || {
	echo "the headline of the page is: $(grep -o '<h1>.*</h1>' "$dir/dom")"
	failed=1
}
# The last interval of a session is much shorter than the others: it is no point of its own.
run 1200 light incident.html --virtual-time-budget=5000 --dump-dom "file://$dir/incident.html" >"$dir/dom"
grep -q 'Throughput in calls/s over time: at most [0-9]*, at the end 3[0-9][0-9]"' "$dir/dom" || {
	echo "the last interval is drawn as $(grep -o 'Throughput in [^"]*' "$dir/dom")"
	failed=1
}
exit $failed
