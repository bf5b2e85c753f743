#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that what `kubectl kustomize` renders has the types of Kubernetes and of the Prometheus operator, as TypeScript
# knows them (npm's kubernetes-models): no field is unknown, missing or of another type. check.sh [FOLDER]
# FOLDER has the rendered manifests (build/manifests). With another kubectl in the PATH, both render the same objects.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
manifests=${1:-$root/build/manifests}
work=$root/build/kubernetes
die() {
	echo "check.sh: error: $*" >&2
	exit 1
}
for tool in npm node; do type -P $tool >/dev/null || die "$tool is missing: run 'make deps-release' as root"; done
compgen -G "$manifests/*.yaml" >/dev/null || die "no manifests in $manifests: run 'make manifests'"

mkdir -p "$work"
if ! cmp -s "$here/types.sha256" "$work/types.sha256"; then
	# Of the packages' own dependencies the types need none.
	rm -rf "$work/node_modules"
	while read -r sum archive; do
		name=${archive%-*} version=${archive##*-}
		name=${name/#kubernetes-models-/@kubernetes-models/}
		mkdir -p "$work/node_modules/$name"
		(cd "$work" && npm pack --silent "$name@${version%.tgz}" >npm.log && sha256sum -c --quiet <<<"$sum  $archive" &&
			tar -C "node_modules/$name" --strip-components=1 -xf "$archive") || die "npm could not fetch $name, or it is another"
	done <"$here/types.sha256"
	echo '{"type": "module"}' >"$work/package.json"
	cp "$here/types.sha256" "$work/"
fi
# Each object becomes a constant of its type, written out: then a field that the type lacks is an error.
/usr/bin/python3 - "$manifests"/*.yaml >"$work/objects.ts" <<'END'
import json
import os
import sys
import yaml

PACKAGES = {"monitoring.coreos.com": "@kubernetes-models/prometheus-operator/monitoring.coreos.com"}
count = 0
for path in sys.argv[1:]:
    if path.endswith("values.yaml"):
        continue  # of a chart, no object
    with open(path, encoding="utf-8") as file:
        objects = list(yaml.safe_load_all(file))
    for each in objects:
        group, _, version = each["apiVersion"].rpartition("/")
        package = PACKAGES.get(group, "kubernetes-models/" + group).rstrip("/")
        count += 1
        print(f'// {os.path.basename(path)}: {each["kind"]} {each["metadata"]["name"]}')
        print(f'import type {{ I{each["kind"]} as T{count} }} from "{package}/{version}/{each["kind"]}";')
        print(f"export const o{count}: T{count} = {json.dumps(each, indent=1)};")
END
cat >"$work/tsconfig.json" <<'END'
{ "compilerOptions": { "strict": true, "noEmit": true, "skipLibCheck": true, "module": "node16", "moduleResolution": "node16" },
  "files": ["objects.ts"] }
END
count=$(grep -c '^export const' "$work/objects.ts") || die "no objects in $manifests"
(cd "$work" && node node_modules/typescript/bin/tsc -p .) >&2 || die "the objects of build/kubernetes/objects.ts have other types, see above"

# A misspelt field must be found, or nothing is proved.
sed 's/"hostPID"/"hostPid"/' "$work/objects.ts" >"$work/wrong.ts"
! (cd "$work" && node node_modules/typescript/bin/tsc --strict --noEmit --skipLibCheck --module node16 --moduleResolution node16 wrong.ts) >"$work/wrong.log" ||
	die "a field that does not exist was not found"
grep -q hostPid "$work/wrong.log" || die "a field that does not exist was not found: $(head -n 3 "$work/wrong.log")"
# other: what the kubectl of the PATH renders. A ConfigMap's name ends with a checksum, which versions form otherwise.
if type -P kubectl >/dev/null; then
	of() { sed -n "s|^ *$1: *||p" "$manifests/xidscope.yaml" | head -n 1 | tr -d '"'; }
	rm -rf "$work/other"
	"$root/deploy/kubernetes/render.sh" kubectl "$(of image)" "$(of app.kubernetes.io/version)" "$work/other" 2>"$work/other.log" ||
		die "$(type -P kubectl) renders nothing: $(tail -n 3 "$work/other.log")"
	/usr/bin/python3 - "$manifests" "$work/other" <<'END' || die "$(type -P kubectl) renders other objects, see above"
import json
import os
import re
import sys
import yaml


def objects(folder):
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for each in yaml.safe_load_all(re.sub(r"(xidscope-monitor)-[0-9a-z]{10}", r"\1", file.read())):
                yield name + ": " + json.dumps(each, sort_keys=True)


here, other = (set(objects(folder)) for folder in sys.argv[1:])
for each in sorted(here ^ other):
    print(each, file=sys.stderr)
sys.exit(here != other)
END
fi
echo "$count objects have the types of kubernetes-models $(sed -n 's/.*  kubernetes-models-\([0-9].*\).tgz/\1/p' "$here/types.sha256")"
