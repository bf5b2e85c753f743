#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the dashboards are of the type that Grafana publishes for them (npm's @grafana/schema), without a field that
# it does not know. The options of each kind of panel have no type there. Exit 77: npm or its registry is not there.
set -euo pipefail
top=$(realpath "$(dirname "$0")/../..")
work=$top/build/grafana
"$top/tests/npm.sh" "$work" typescript@5.9.3 @grafana/schema@13.2.3
cd "$work"

# JSON has the values of enumerations, not their names: an enumeration becomes the type of its values.
awk '
	/^export declare enum/ { printf "export type %s =", $4; inside = 1; next }
	inside && /^}/ { print ";"; inside = 0; next }
	inside && / = / { sub(/.* = /, ""); sub(/,.*/, ""); printf " | %s", $0; next }
	!inside
' node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts >types.d.ts
for page in "$top"/deploy/grafana/*.json; do
	name=$(basename "$page" .json)
	{
		echo 'import type { Dashboard, Panel, RowPanel } from "./types";'
		# A panel as such: Dashboard has a union there, in which an unknown field of one kind may pass as of another.
		/usr/bin/python3 - "$page" <<-'PYTHON'
			import json, sys
			page = json.load(open(sys.argv[1]))
			rows = [p for p in page["panels"] if p["type"] == "row"]
			page["panels"] = [p for p in page["panels"] if p["type"] != "row"]
			# Grafana's type has no place for what an annotation asks of Prometheus.
			asked = [{"titleFormat": a.pop("titleFormat"), "useValueForTime": a.pop("useValueForTime", False), **a.pop("target")}
			         for a in page.get("annotations", {"list": []})["list"]]
			print("export const asked: { titleFormat: string, useValueForTime: boolean, expr: string, refId: string }[] =", json.dumps(asked))
			print('export const page: Omit<Dashboard, "panels"> & { panels: Panel[] } =', json.dumps(page))
			print("export const rows: RowPanel[] =", json.dumps(rows))
		PYTHON
	} >"$name.ts"
	node_modules/typescript/bin/tsc --strict --noEmit --skipLibCheck "$name.ts" || exit 1
done
echo "$(find "$top/deploy/grafana" -name '*.json' | wc -l) dashboards are of Grafana's type"
