// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/delta.h"

#include "snapshot/table.h"

static int subtract_table(struct delta *d, const struct table *t, const struct snapshot *begin)
{
	bool anew = t->part == offsetof(struct snapshot, calls) &&
		    d->end->calls.source_number != begin->calls.source_number;
	const void *now = (const char *)d->end + t->part, *then = (const char *)begin + t->part;
	size_t count = table_count(t, now);
	const char *entry = table_array(t, now), *before;
	void *to;

	/* An entry mostly keeps its place from snapshot to snapshot. */
	for (size_t i = 0; i < count; i++, entry += t->size) {
		before = anew ? NULL : table_like(t, then, entry, i);
		if (before && !t->delta_all && !table_changed(t, NULL, entry, before))
			continue;
		to = array_append((void **)((char *)d + t->delta_array),
				  (size_t *)((char *)d + t->delta_entries), t->delta_size);
		if (!to)
			return -ENOMEM;
		*(const void **)to = entry;
		table_subtract(t, to, entry, before);
	}
	return 0;
}

int delta_make(struct delta *d, const struct snapshot *begin, const struct snapshot *end)
{
	int err = 0;

	d->end = end;
	if (!begin->time_ns)
		return 0;
	d->begin_ns = begin->time_ns;
	d->begin = begin->wall;
	d->ns = end->time_ns > begin->time_ns ? end->time_ns - begin->time_ns : 0;
	table_subtract(&tables[TABLE_SNAPSHOT], d, end, begin);
	if (!begin->calls.cpu_waiting_ns)
		d->cpu_waiting_ns = 0;
	for (int t = 0; t < TABLES && !err; t++)
		if (tables[t].delta_size)
			err = subtract_table(d, &tables[t], begin);
	if (err)
		delta_free(d);
	return err;
}

void delta_free(struct delta *d)
{
	for (int t = 0; t < TABLES; t++)
		if (tables[t].delta_size)
			free(*(void **)((char *)d + tables[t].delta_array));
	*d = (struct delta){};
}
