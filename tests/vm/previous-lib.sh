# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What the preparation of jobs shares that upgrade from the version before, which `make previous` leaves in $before; its
# number is $previous. Of `prepare.sh JOBDIR`: $job.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

root=$(realpath "$vm/../..")
job=$1 before=$root/build/previous
[[ -e $before/version ]] || die "no version before in build/previous: run 'make previous'"
# shellcheck disable=SC2034 # for the scripts that source this
previous=$(<"$before/version")

# documented FILE SECTION BLOCK [WORD=VALUE...]: the commands of docs/DEPLOY.md, in a file of the job.
documented() { "$root/tests/docs/commands.sh" "${@:2}" >"$job/$1"; }
