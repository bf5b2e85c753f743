#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints how much of each file in user/ the tests run: the unit tests and the fuzzers' corpora here, and the scenarios in a
# guest, together.
# coverage.sh BUILD   with BUILD/xidscope built for coverage; run by `make coverage`. GUEST= leaves the guest out.
set -euo pipefail
top=$(realpath "$(dirname "$0")/..")
build=$1
cd "$top"
find "$build" -name '*.gcda' -delete
if [[ ${GUEST-6.1} ]]; then
	XIDSCOPE=$build/xidscope tests/vm/check.sh \
		--only 'late exact slot session delay stopped-server silent-server names faults output signals trace' "${GUEST-6.1}" ||
		echo "coverage.sh: not all scenarios passed; what they ran counts" >&2
	# The guest kept the paths of this machine.
	cp -r "build/vm/${GUEST-6.1}/coverage/$top/$build/." "$build/"
fi
# The runtime adds to the counts that are there.
make --no-print-directory B="$build" STATIC='' SANITIZE='' CFLAGS='-O0 -g --coverage -fprofile-update=atomic' coverage-unit coverage-corpora
echo
printf '%-28s %8s %8s\n' file lines run
find "$build/user" -name '*.gcno' -exec gcov --no-output {} + 2>/dev/null |
	awk '/^File / { file = $2; gsub(/\x27/, "", file); wanted = file ~ /^user\/.*\.c$/ }
		/^Lines executed:/ && wanted {
			split($0, part, /[:% ]+/)
			n = part[5]; p = part[3]
			printf "%-28s %8d %7.1f%%\n", file, n, p
			lines += n; run += n * p / 100; wanted = 0
		}
		END { printf "%-28s %8d %7.1f%%\n", "all", lines, 100 * run / lines }' | sort
