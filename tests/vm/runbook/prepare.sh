#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs the commands of docs/RUNBOOK.md in a guest, with systemd as process 1: prepare.sh JOBDIR
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../../..")
"$root/tests/vm/systemd/prepare.sh" "$1"
cp "$here/guest.sh" "$1/run.sh"
cp "$root/tests/vm/slurm/slurm-lib.sh" "$root/build/xidscope" "$root/deploy/slurm/xidscope-health-check" "$1/"
"$root/tests/docs/runbook.sh" functions Slurm >"$1/functions"
"$root/tests/docs/runbook.sh" rest >"$1/commands"
"$root/tests/docs/runbook.sh" look >"$1/look"
