# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the tests of commands share: the program, an empty working folder of their own, and what a call must give.
# shellcheck disable=SC2034,SC2053 # variables for those that read this; patterns
top=$(realpath "$(dirname "$0")/../..")
program=$top/build/xidscope
[[ -x $program ]] || { echo "no $program: run make first" >&2 && exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit
failed=0
export TZ=UTC
fail() {
	echo "FAIL: $*" >&2
	failed=1
}

# expect CODE STDOUT-PATTERN STDERR-PATTERN ARGUMENT...: patterns are of bash; all of the output must match.
expect() {
	local code=$1 out=$2 err=$3 got=0
	shift 3
	timeout 120 "$program" "$@" >out 2>err || got=$?
	[[ $got == "$code" ]] || fail "'$*' ends with $got, not $code"
	[[ $(<out) == $out ]] || fail "'$*' prints '$(<out)', not '$out'"
	[[ $(<err) == $err ]] || fail "'$*' prints the error '$(<err)', not '$err'"
}

# judge FILE [OPTION OF RUN...] -- [FACT...]: writes the health file that an agent with these options would write there, see
# tests/readers/write_health.c.
judge() { "${program%/*}/tests/write_health" "${@:2}" >"$1"; }

# within TENTHS COMMAND...: repeats the command until it succeeds; fails after five times so many tenths of a second: on a busy
# machine all takes longer.
within() {
	local i
	for ((i = 0; i < 5 * $1; i++)); do
		! "${@:2}" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
ended() { ! kill -0 "$1" 2>/dev/null; } # PID

# as_nobody ARGUMENT...: the program as the user nobody, who must be able to read it. Needs root.
as_nobody() {
	chmod 755 "$dir"
	cp -u "$program" "$dir/xidscope"
	timeout 120 setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/xidscope" "$@"
}
