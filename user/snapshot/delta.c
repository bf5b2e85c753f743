// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/delta.h"

#include "snapshot/table.h"

/* @to: the part of the delta. @then: that of the snapshot at the begin, in which @anew says that nothing was counted. */
static void subtract_table(const struct table *t, void *to, const void *now, const void *then,
			   bool anew)
{
	const char *entry = table_array(t, now), *before;

	/* An entry mostly keeps its place from snapshot to snapshot. */
	for (size_t i = 0; i < table_count(t, now); i++, entry += t->size) {
		before = anew ? NULL : table_like(t, then, entry, i);
		if (before && !t->delta_all && !table_changed(t, entry, before))
			continue;
		table_subtract(t, memcpy(table_append(t, to), entry, t->size), before);
	}
}

void delta_make(struct delta *d, const struct snapshot *begin, const struct snapshot *end)
{
	const struct calls *then = &begin->calls, *now = &end->calls;
	bool anew = now->source_number != then->source_number;

	d->end = end;
	if (!begin->time_ns)
		return;
	d->begin_ns = begin->time_ns;
	d->begin = begin->wall;
	d->ns = counted_since(end->time_ns, begin->time_ns);
	if (then->cpu_waiting_ns)
		d->cpu_waiting_ns = counted_since(now->cpu_waiting_ns, then->cpu_waiting_ns);
	for (const struct table *t = &tables[TABLE_OPS]; t < &tables[TABLE_MOUNTS]; t++)
		if (t < &tables[TABLE_FAULTS])
			subtract_table(t, &d->calls, now, then, anew);
		else
			subtract_table(t, &d->faults, &end->faults, &begin->faults, false);
}

void delta_free(struct delta *d)
{
	calls_free(&d->calls);
	fault_counts_free(&d->faults);
	*d = (struct delta){};
}
