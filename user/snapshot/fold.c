// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Snapshots with fewer entries, and with those of an earlier observation. */

#include "snapshot/table.h"

/* An entry may be named "other" already: what did not fit the kernel's table. The two must not
 * become one name twice. */
static bool is_other(const struct table *t, const char *entry)
{
	for (const struct field *f = t->fields; f->role == FIELD_LABEL; f++)
		if (strcmp(entry + f->offset, LABEL_OTHER) != 0)
			return false;
	return true;
}

/* Merges the entries beyond @keep into one: the one of the first that is "other" already, else one more. */
static size_t fold(const struct table *t, struct calls *c, size_t keep)
{
	size_t *count = (size_t *)((char *)c + t->entries), all = *count, into = 0;
	char *array = table_array(t, c), *other;

	if (all <= keep)
		return 0;
	*count = keep;
	/* Entries that only describe cannot be added up. */
	if (!ARRAY_FIND(f, t->fields, t->field_count, f->role == FIELD_COUNTER))
		return all - keep;
	while (into < keep && !is_other(t, array + into * t->size))
		into++;
	other = array + into * t->size;
	if (into == keep) {
		*count = keep + 1;
		/* Also one entry alone loses its details. */
		ARRAY_EACH(f, t->fields, t->field_count)
			if (f->role == FIELD_ALONE)
				memset(other + f->offset, 0, f->size);
	}
	for (size_t i = *count; i < all; i++)
		table_add(t, other, array + i * t->size, true);
	for (const struct field *f = t->fields; f->role == FIELD_LABEL; f++)
		memcpy(other + f->offset, LABEL_OTHER, sizeof(LABEL_OTHER));
	return all - keep;
}

void snapshot_fold(struct snapshot *s, size_t max_series)
{
	ARRAY_EACH(t, tables, TABLES)
		if (t->series)
			s->calls.folded_entries += fold(t, &s->calls, max_series / t->series);
}

int calls_add(struct calls *c, const struct calls *past)
{
	for (int id = TABLE_OPS; id <= TABLE_OWNER_CALLS; id++) {
		const struct table *t = &tables[id];
		const char *from = table_array(t, past);

		if (id == TABLE_MOUNTS)
			continue;
		for (size_t i = table_count(t, past); i--; from += t->size) {
			const struct rpc_transport_state *transport = (const void *)from;
			void *to;

			if (id == TABLE_TRANSPORTS && transport->named_only)
				continue;
			to = table_get_labels(t, c, from);
			if (!to)
				return -ENOMEM;
			table_add(t, to, from, false);
		}
	}
	return 0;
}
