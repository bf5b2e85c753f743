// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the explanation of what libbpf and the verifier print: any text gives none, or one that fits. */
#include "fuzz.h"
#include "kernel/bpf_support.h"

/* The first byte is the room for the explanation. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = size ? 1 + data[0] : 1;
	char *words = string_of(data + (size > 0), size ? size - 1 : 0);
	char *feature = malloc(room); /* for ASan */

	require(feature != NULL);
	memset(feature, 'x', room);
	if (bpf_refusal_explain(feature, room, words))
		require(memchr(feature, 0, room) && (*feature || room == 1));
	free(feature);
	free(words);
	return 0;
}
