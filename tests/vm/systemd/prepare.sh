#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs the systemd unit in a guest, with systemd as process 1: prepare.sh JOBDIR
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../../..")
mkdir -p "$1"
make --no-print-directory -C "$root" install DESTDIR="$1/root" >/dev/null
cp "$here/systemd-lib.sh" "$root/tests/vm/deploy-lib.sh" "$1/"
cp -r "$root/deploy" "$1/deploy"
cp "$here/guest.sh" "$1/run.sh"
: >"$1/systemd"
