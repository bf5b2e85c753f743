# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For prepare.sh JOBDIR of jobs that upgrade under load: from and to $older, these sources built as another version, which
# `make check-packages` leaves in build/older.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

root=$(realpath "$vm/../..")
job=$1
[[ -x $root/build/older/xidscope ]] || die "no build/older: run 'make check-packages'"
# version_of BUILD
version_of() { "$root/$1/xidscope" version | sed 's/.* //'; }
# shellcheck disable=SC2034 # for the scripts that source this
version=$(version_of build) older=$(version_of build/older)

# documented FILE SECTION BLOCK [WORD=VALUE...]: the commands of docs/DEPLOY.md, in a file of the job.
documented() { "$root/tests/docs/commands.sh" "${@:2}" >"$job/$1"; }
