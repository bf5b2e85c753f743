#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs npm packages of fixed versions below a folder, if they are not there, and runs none of their scripts: npm.sh FOLDER
# PACKAGE@VERSION... Exit 77: npm or its registry is not there.
set -euo pipefail
mkdir -p "$1"
cd "$1"
[[ ! -e installed || $(<installed) != "${*:2}" ]] || exit 0
command -v npm >/dev/null || {
	echo "npm is missing: no ${*:2}"
	exit 77
}
npm install --prefix . --no-save --ignore-scripts --no-audit --no-fund "${@:2}" >npm.log 2>&1 || {
	echo "npm cannot install ${*:2}: $(grep -m1 -i error npm.log)"
	exit 77
}
echo "${*:2}" >installed
