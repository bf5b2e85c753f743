# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2034 # the checks read the variables
# What the checks of documents share: they run in the repository's folder, with a folder for their work, $work.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
program=build/xidscope
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=

complain() {
	echo "${0##*/}: $*" >&2
	failed=1
}
fail() {
	complain "$@"
	exit 1
}
needs_program() {
	[[ -x $program ]] || fail "no $program: run make first"
}
