#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that a million calls, with tasks killed in every phase, leave nothing behind and are counted exactly, and so do
# 50 reloads of sunrpc: soak.sh [KERNEL]. Takes about twenty minutes on an emulated CPU.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
exec env SOAK_CALLS="${SOAK_CALLS:-1000000}" TIMEOUT=7200 "$here/check.sh" --only "kills reload" "${1:-6.1}"
