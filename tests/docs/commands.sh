#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints the commands of the Nth block of a section of docs/DEPLOY.md, for the test that runs them as they stand there:
# commands.sh SECTION N [WORD=VALUE...]     Each WORD becomes VALUE, as a reader would write it. Fails if a WORD is not in it.
set -euo pipefail
page=$(dirname "$0")/../../docs/DEPLOY.md
block=$(awk -v section="$1" -v wanted="$2" '/^## / { here = $0 == "## " section } here && /^```/ { count++; next }
	here && count == 2 * wanted - 1' "$page")
[[ $block ]] || {
	echo "commands.sh: error: $page has no block $2 in '$1'" >&2
	exit 1
}
for each in "${@:3}"; do
	[[ $block == *"${each%%=*}"* ]] || {
		echo "commands.sh: error: block $2 of '$1' lacks ${each%%=*}" >&2
		exit 1
	}
	block=${block//"${each%%=*}"/${each#*=}}
done
echo "$block"
