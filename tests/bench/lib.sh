# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The measurements in guests share this: folders, a guest, and tables.
here=$(dirname "$(realpath "$0")")
top=$here/../..
results=$top/build/bench
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-bench.XXXXXX")
trap 'rm -rf "$job"' EXIT

# in_guest KERNEL NAME [OPTION...]: runs the job with a clock that counts instructions; its results go to $results/NAME.
in_guest() {
	mkdir -p "$results"
	rm -rf "${results:?}/$2"
	"$top/tests/vm/boot.sh" --kernel "$1" --icount --job "$job" --out "$results/$2" --timeout "${TIMEOUT:-1800}" "${@:3}"
}

# put NAME FILE: puts a table into docs/PERFORMANCE.md.
put() { "$top/tests/docs/put_table.sh" "$top/docs/PERFORMANCE.md" "$1" <"$2"; }
