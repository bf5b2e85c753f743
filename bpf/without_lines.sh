#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Removes from a BPF object which source line its instructions are of, but for the first of each function, which the kernel wants. libbpf
# and the kernel keep them, some 0.25 MB each, and only the verifier's messages show them.
#   without_lines.sh OBJECT
# The section .BTF.ext (kernel: Documentation/bpf/btf.rst) has a header of eight numbers, then functions, lines and relocations. The
# numbers are: magic, length of the header, then where each of the three begins after the header, and its length. Functions and lines
# are a record's length, then for each section of code its name, the number of records, and these, which begin with a place.
set -euo pipefail
part=$1.part
trap 'rm -f "$part"' EXIT
llvm-objcopy --dump-section ".BTF.ext=$part" "$1"
bytes=$(od -An -v -w4 -tu4 "$part" | awk '
	{ word[NR - 1] = $1 }
	function add(value) { kept[count++] = value }
	function copy(from, words) { while (words-- > 0) add(word[from++]) }
	# Notes the places of functions, or keeps the lines at these.
	function records(at, words, keep,    end, size, i, n, place) {
		end = at + words
		size = word[at++] / 4
		if (keep) add(size * 4)
		for (; at < end; at += 2 + word[at + 1] * size) {
			if (keep) { add(word[at]); place = count; add(0) }
			for (i = 0; i < word[at + 1]; i++) {
				n = at + 2 + i * size
				if (!keep) first[word[at], word[n]] = 1
				else if ((word[at], word[n]) in first) { copy(n, size); kept[place]++ }
			}
		}
	}
	END {
		header = word[1] / 4
		copy(0, header + word[3] / 4)
		records(header + word[2] / 4, word[3] / 4, 0)
		begin = count
		records(header + word[4] / 4, word[5] / 4, 1)
		kept[5] = (count - begin) * 4
		kept[6] = kept[4] + kept[5]
		copy(header + word[6] / 4, word[7] / 4)
		for (i = 0; i < count; i++)
			for (byte = 0; byte < 4; byte++) {
				printf "\\0%o", kept[i] % 256
				kept[i] = int(kept[i] / 256)
			}
	}')
printf %b "$bytes" >"$part"
llvm-objcopy --remove-section .rel.BTF.ext --remove-section .rel.BTF --update-section ".BTF.ext=$part" "$1"
