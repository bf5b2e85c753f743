/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots in tests. Include it after unit.h. */
#ifndef TEST_SNAPSHOT_H
#define TEST_SNAPSHOT_H

#include "snapshot/table.h"

/* *@before becomes a copy of *@now. */
static inline void keep_snapshot(struct snapshot *before, const struct snapshot *now)
{
	snapshot_free(before);
	*before = *now;
	for (const struct table *t = tables; t < tables + TABLES; t++) {
		char **array = (char **)((char *)before + t->part + t->array), *copy;
		size_t size = table_count(t, (const char *)now + t->part) * t->size;

		if (t->fixed)
			continue;
		/* Room as array_append() has it. */
		copy = malloc(2 * size + 1);
		assert_non_null(copy);
		*array = size ? memcpy(copy, *array, size) : copy;
	}
}

#endif
