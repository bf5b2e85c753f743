#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Records what the agent of a real node writes in each state of guest.sh: record.sh FOLDER. The guest's clock counts
# instructions, so it does not matter how busy this machine is.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
folder=${1:?usage: record.sh FOLDER}
kernel=${KERNEL:-6.1}
job=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-record.XXXXXX")
trap 'rm -rf "$job"' EXIT
cp "$top/build/xidscope" "$top/tests/vm/agent-lib.sh" "$job/"
cp -r "$("$top/tests/vm/modules.sh" "$kernel")" "$job/modules"
cp "$here/guest.sh" "$job/run.sh"
rm -rf "$folder"
"$top/tests/vm/boot.sh" --kernel "$kernel" --job "$job" --out "$folder" --timeout 7200 --icount
