# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # top is the sourcing script's
# What the studies share (tests/paradox, tests/tuning): source it with $top, the project's folder.

# study_begin GUEST: makes the folder $job with what the guest runs.
study_begin() {
	job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-study.XXXXXX")
	trap 'rm -rf "$job"' EXIT
	cp "$1" "$job/run.sh"
	cp "$top/build/xidscope" "$top/tests/vm/agent-lib.sh" "$job/"
}

# study_run OUT VERSION KERNEL [OPTION...]: leaves in OUT what the guest does with this version of NFS.
study_run() {
	echo "$2" >"$job/version"
	rm -rf "$1"
	"$top/tests/vm/boot.sh" --kernel "$3" --icount --job "$job" --out "$1" --timeout "${TIMEOUT:-3600}" "${@:4}"
}
