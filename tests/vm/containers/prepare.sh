#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes a job that runs containers of several runtimes in a guest, beside the systemd unit: prepare.sh JOBDIR
set -euo pipefail
here=$(realpath "$(dirname "$0")")
"$here/../systemd/prepare.sh" "$1"
cp "$here/guest.sh" "$1/run.sh"
cp "$("$here/../tool.sh" busybox-static bin/busybox)" "$1/"
