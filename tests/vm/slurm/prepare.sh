#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs Slurm with the health check of deploy/slurm in a guest: prepare.sh JOBDIR SCRIPT
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../../..")
mkdir -p "$1"
cp "$here/slurm-lib.sh" "$root/tests/vm/deploy-lib.sh" "$root/build/xidscope" "$root/deploy/slurm/xidscope-health-check" "$1/"
cp "$here/${2/latest/groups}.sh" "$1/run.sh"
"$root/tests/docs/runbook.sh" functions Slurm >"$1/runbook"
"$root/tests/docs/runbook.sh" sacct >"$1/sacct"
"$root/tests/docs/commands.sh" 'Slurm' 1 >"$1/lines"
"$root/tests/docs/commands.sh" 'Is it on?' 3 ADDRESS=00000000:C1:00.0 NODE=n2 >"$1/drill"
(($(wc -l <"$1/drill") == 2)) # decisions.sh runs one after the other
