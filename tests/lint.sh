#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the sources pass their linters: lint.sh [shellcheck|flake8|clang-format]...
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/.." || exit
files() { find .ci bpf deploy include tests user vmlinux -type f "$@"; }
# shellcheck disable=SC2016 # awk expands it
begin_with() { files ! -name '*.md' -exec awk -v line="^$1\$" '$0 ~ line { print FILENAME } { nextfile }' {} +; }
failed=0
tools=("$@")
((${#tools[@]})) || tools=(shellcheck flake8 clang-format)
for tool in "${tools[@]}"; do
	type -P "$tool" >/dev/null || {
		echo "$tool is missing: run 'make deps' as root"
		exit 77
	}
	case $tool in
	shellcheck)
		{ files -name '*.sh' && begin_with '#!/bin/bash'; } | sort -u | grep -vxFf <(begin_with '#!/bin/(busybox )?sh') | xargs shellcheck -x &&
			begin_with '#!/bin/(busybox )?sh' | xargs shellcheck -x -s sh # .shellcheckrc says bash
		;;
	flake8) files -name '*.py' -print0 | xargs -0 flake8 --max-line-length=120 ;;
	clang-format)
		[[ $(clang-format --version) == *' version 14.'* ]] || {
			echo "the sources are formatted by clang-format 14; other versions differ"
			exit 77
		}
		files -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror || {
			echo "some C sources are not formatted: run 'make format'"
			false
		}
		;;
	esac || failed=1
done
exit $failed
