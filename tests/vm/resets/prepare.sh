#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that resets its guest: prepare.sh JOBDIR
set -euo pipefail
here=$(realpath "$(dirname "$0")")
mkdir -p "$1"
cp "$here/guest.sh" "$1/run.sh"
cp "$here/../../../build/xidscope" "$1/"
