// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arrays that grow by one element at a time.
 *
 * Memory hardly ever runs out, and then nobody can act on it where an array grows: the figure in question is missing, and that must
 * be said. Therefore no caller checks each element. A failed one goes to a spare that nobody reads, as bytes of a stream after an
 * error, and is counted. Who has made a whole of them, such as a snapshot or a file that was read, compares the count with that
 * at the begin, as with ferror(), and refuses the whole. */
#include "base/std.h"

static uint64_t failed;

uint64_t memory_failed(void)
{
	return failed;
}

void memory_count_failure(void)
{
	failed++;
}

int memory_error(uint64_t before)
{
	return failed != before ? -ENOMEM : 0;
}

void *array_append(void **elements, size_t *count, size_t size, void *spare)
{
	char *grown;

	/* Full at 0 and at powers of two. */
	if (!(*count & (*count - 1))) {
		grown = realloc(*elements, (*count ? 2 * *count : 1) * size);
		if (!grown) {
			failed++;
			return memset(spare, 0, size);
		}
		*elements = grown;
	}
	grown = *elements;
	return memset(grown + size * (*count)++, 0, size);
}

void *array_copy(const void *elements, size_t *count, size_t size)
{
	size_t room = 1;
	void *copy;

	if (!*count)
		return NULL;
	while (room < *count)
		room *= 2;
	copy = malloc(room * size);
	if (copy)
		return memcpy(copy, elements, *count * size);
	failed++;
	*count = 0;
	return NULL;
}
