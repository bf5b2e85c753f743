// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An array that grows by one element at a time. */
#include "base/std.h"

void *array_append(void **elements, size_t *count, size_t size)
{
	char *grown;

	/* Full at 0 and at powers of two. */
	if (!(*count & (*count - 1))) {
		grown = realloc(*elements, (*count ? 2 * *count : 1) * size);
		if (!grown)
			return NULL;
		*elements = grown;
	}
	grown = *elements;
	return memset(grown + size * (*count)++, 0, size);
}
