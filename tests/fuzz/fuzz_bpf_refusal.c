// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libFuzzer entry for the explanation of what libbpf and the verifier print: any
 * text gives none, or one that fits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/bpf_support.h"

/* Not assert(): these must hold in builds with NDEBUG too. */
static void require(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the room for the explanation. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = size ? 1 + data[0] : 1;
	char *words = malloc(size + 1), *feature = malloc(room); /* for ASan */

	require(words && feature);
	if (size)
		memcpy(words, data + 1, size - 1);
	words[size ? size - 1 : 0] = 0;
	memset(feature, 'x', room);
	if (bpf_refusal_explain(feature, room, words))
		require(memchr(feature, 0, room) && (*feature || room == 1));
	free(feature);
	free(words);
	return 0;
}
