#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs the systemd unit in a guest, with systemd as process 1: prepare.sh JOBDIR
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../../..")
mkdir -p "$1"
cp "$here/unit-lib.sh" "$root/tests/vm/deploy-lib.sh" "$root/build/xidscope" "$root/deploy/systemd/xidscope.service" "$1/"
cp "$here/guest.sh" "$1/run.sh"
: >"$1/systemd"
