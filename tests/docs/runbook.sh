#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints the commands of docs/RUNBOOK.md as they stand there, for the tests that run them: `runbook.sh functions WAY`, those
# for Slurm or Kubernetes; `runbook.sh WORDS`, one a line, those that begin with these words; `runbook.sh rest`, those that no
# other test runs; `runbook.sh look`, those that change nothing.
set -euo pipefail
page=$(dirname "$0")/../../docs/RUNBOOK.md
# nvidia-smi is the driver's, and no guest has a GPU.
elsewhere='kubectl|sacct|amtool|host nvidia-smi'
# A semicolon in quotes belongs to the command.
commands() { # [LINES: sed's, all by default]
	sed -n "${1:-1,\$}{s/^    //p}" "$page" | grep -vE '^#|^([A-Z]+=[^ ]+ ?)+$|^[a-z]+\(\)' |
		awk -v FS="'" -v OFS="'" '{ for (i = 1; i <= NF; i += 2) gsub(/; /, "\n", $i) } 1'
}
case $1 in
functions) sed -n "/^    # $2/,/^\$/s/^    //p" "$page" | grep . ;;
rest) commands | grep -vE "^($elsewhere) " ;;
look) commands '/^\*\*Look at/,/^\*\*Do/' ;;
*) commands | grep "^$1 " ;;
esac
