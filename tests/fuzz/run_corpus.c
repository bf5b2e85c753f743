// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gives each file that is named to a fuzzer's entry, once: without libFuzzer, for coverage by gcc. */
#include <error.h>
#include <errno.h>
#include <stdio.h>

#include "fuzz.h"

int main(int argc, char **argv)
{
	static uint8_t bytes[1 << 20];
	size_t size;
	FILE *file;

	for (int i = 1; i < argc; i++) {
		file = fopen(argv[i], "r");
		if (!file)
			error(1, errno, "%s", argv[i]);
		size = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		LLVMFuzzerTestOneInput(bytes, size);
	}
	return 0;
}
