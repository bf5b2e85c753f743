#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that each block of commands in docs/DEPLOY.md is run by a test, which gets it from commands.sh, or stands here with
# the reason why none can.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

declare -A untried=(
	['RHEL, Rocky, Alma 2']="it needs SELinux, which Debian's guests do not have"
)
count=0
while read -r block; do
	count=$((count + 1))
	section=${block% *} number=${block##* }
	if grep -rqF --include='*.sh' "'$section' $number" tests; then
		[[ ! ${untried[$block]:-} ]] || complain "a test runs block $number of '$section': it is not untried"
	else
		[[ ${untried[$block]:-} ]] || complain "no test runs block $number of '$section' in docs/DEPLOY.md"
	fi
	unset "untried[$block]"
done < <(awk '/^## / { section = substr($0, 4); count = 0 } /^```/ && ++count % 2 { print section, (count + 1) / 2 }' docs/DEPLOY.md)
((${#untried[@]} == 0)) || complain "docs/DEPLOY.md has no block: ${!untried[*]}"
[[ -z $failed ]] || exit 1
echo "check_deploy.sh: a test for each of $count blocks of commands, or a reason why not"
