// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/table.h"

/* The names of an array's elements, and the fact of the first of them. */
#define NAMES(list) .names = (list), .name_count = COUNT(list)
#define FACT(fact_) .fact = RPC_FACT_##fact_

static const char *const slot_setting_names[SLOT_SETTINGS] = {
	[SLOTS_SESSION] = "session",
	[SLOTS_TCP] = "tcp",
	[SLOTS_UDP] = "udp",
	[SLOTS_RDMA] = "rdma",
};

static const char *const gap_names[] = { "count", "sum", "squares" };

/* ---- the rows. clang-format off: a row a line ---- */
/* clang-format off */
static const struct field snapshot_fields[] = {
	ROW(snapshot, GAUGE, time_ns),
	ROW(snapshot, GAUGE, wall),
	ROW_AS(FIELD_CHOICE, snapshot, DETAIL, calls.source, NAMES(rpc_source_names)),
	ROW(snapshot, DETAIL, calls.source_number),
	ROW(snapshot, DETAIL, calls.rpc_missing),
	ROW_AS(FIELD_SET, snapshot, DETAIL, calls.unknown, NAMES(rpc_fact_names)),
	ROW(snapshot, GAUGE, calls.slots_wanted, NAMES(slot_setting_names)),
	ROW(snapshot, DETAIL, faults.gpu_watched),
	ROW(snapshot, DETAIL, self.rpc_hook_count),
	ROW(snapshot, COUNTER, calls.cpu_waiting_ns),
	ROW(snapshot, GAUGE, calls.dirty_bytes),
	ROW(snapshot, GAUGE, calls.dirty_limit_bytes),
};

#undef ENTRY
#undef FIELD
#undef UNRECORDED
#undef FIELD_PART
#undef ENTRY_END
#define ENTRY(name) static const struct field name##_fields[] = {
#define FIELD(of, role, type, member, ...) ROW(of, role, member, ##__VA_ARGS__),
#define UNRECORDED(type, member)
#define FIELD_PART(of, role, part, ...) ROW(of, role, part, ##__VA_ARGS__),
#define ENTRY_END };
#include "snapshot/calls_fields.h"
#include "snapshot/fault_counts_fields.h"
#include "snapshot/self_fields.h"
/* clang-format on */

/* ---- the tables ---- */

#define TABLE(in, where, type, list, number, most, all)                                        \
	.name = #list, .part = offsetof(struct snapshot, where), .array = offsetof(in, list),  \
	.entries = offsetof(in, number), .size = sizeof(struct type), .fields = type##_fields, \
	.field_count = COUNT(type##_fields), .max = most, .delta_all = all
#define CALLS(...) TABLE(struct calls, calls, __VA_ARGS__)
#define FAULTS(...) TABLE(struct fault_counts, faults, __VA_ARGS__)
#define SELF(type, list, ...)                              \
	TABLE(struct self, self, type, list, __VA_ARGS__), \
		.room = COUNT(((struct self *)NULL)->list)

const struct table tables[TABLES] = {
	[TABLE_SNAPSHOT] = { .name = "snapshot",
			     .size = sizeof(struct snapshot),
			     .max = 1,
			     .room = 1,
			     .fields = snapshot_fields,
			     .field_count = COUNT(snapshot_fields) },
#define TABLE_ROW(table, part, ...) [TABLE_##table] = { part(__VA_ARGS__) },
#include "tables.inc"
};

size_t table_count(const struct table *t, const void *part)
{
	return t->entries ? *(const size_t *)((const char *)part + t->entries) : 1;
}

char *table_array(const struct table *t, const void *part)
{
	char *member = (char *)part + t->array;

	return t->room ? member : *(char **)member;
}

void table_free_part(void *part, size_t offset)
{
	for (const struct table *t = tables + 1; t < tables + TABLES; t++)
		if (t->part == offset && !t->room)
			free(table_array(t, part));
}

/* ---- entries ---- */

#define LABELS_MAX 5

/* Whether a label of an entry equals @label: a text, or a pointer to a number. */
static bool is_label(const struct field *f, const char *at, const char *label)
{
	switch (f->type) {
	case FIELD_TEXT:
		return *at == *label && !strcmp(at, label);
	case FIELD_BOOL:
		return *at == *label;
	default:
		return !memcmp(at, label, sizeof(uint32_t));
	}
}

static size_t label_count(const struct table *t)
{
	size_t number = 1;

	while (number < t->field_count && t->fields[number].role == FIELD_LABEL)
		number++;
	return number;
}

/* The labels of an entry, as is_label() takes them. */
static void labels_of(const struct table *t, const void *entry, const void **labels)
{
	ARRAY_EACH(f, t->fields, label_count(t))
		*labels++ = (const char *)entry + f->offset;
}

/* The entry with these labels, or NULL: from place @at on, and from the last label on, in which most entries differ. */
static char *find_entry(const struct table *t, const void *part, const void *const *labels,
			size_t at)
{
	size_t count = table_count(t, part), number = label_count(t), l;
	char *array = table_array(t, part), *entry;
	const struct field *last = &t->fields[number - 1];
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): callers fill it */
	const char *first = labels[number - 1]; /* byte of the last label: it mostly differs */

	for (size_t i = 0; i < count; i++, at++) {
		if (at >= count)
			at = 0;
		entry = array + at * t->size;
		if (last->type == FIELD_TEXT && entry[last->offset] != *first)
			continue;
		for (l = number; l; l--)
			if (!is_label(&t->fields[l - 1], entry + t->fields[l - 1].offset,
				      labels[l - 1]))
				break;
		if (!l)
			return entry;
	}
	return NULL;
}

void *table_like(const struct table *t, const void *part, const void *like, size_t at)
{
	const void *labels[LABELS_MAX];

	labels_of(t, like, labels);
	return find_entry(t, part, labels, at);
}

void *table_append(const struct table *t, void *part)
{
	size_t *count = (size_t *)((char *)part + t->entries);
	static union {
#define TABLE_ROW(table, part, type, ...) struct type table;
#include "tables.inc"
	} spare;

	if (!t->room)
		return array_append((void **)((char *)part + t->array), count, t->size, &spare);
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): @part is a struct */
	return memset(*count < t->room ? table_array(t, part) + (*count)++ * t->size :
					 (char *)&spare,
		      0, t->size);
}

void table_remove(const struct table *t, void *part, void *entry)
{
	size_t *count = (size_t *)((char *)part + t->entries);
	char *next = (char *)entry + t->size, *end = table_array(t, part) + *count * t->size;

	memmove(entry, next, (size_t)(end - next));
	--*count;
}

void table_copy(const struct table *t, const void *from, void *to)
{
	size_t *count = (size_t *)((char *)to + t->entries);

	*count = table_count(t, from);
	*(void **)((char *)to + t->array) = array_copy(table_array(t, from), count, t->size);
}

void calls_copy(struct calls *c, const struct calls *from, enum table_id first)
{
	for (int id = first; id <= TABLE_OWNER_MOUNTS; id++)
		table_copy(&tables[id], from, c);
}

int snapshot_copy(struct snapshot *to, const struct snapshot *from)
{
	uint64_t failed = memory_failed();

	snapshot_free(to);
	*to = *from;
	for (const struct table *t = tables; t < tables + TABLES; t++)
		if (!t->room)
			table_copy(t, (const char *)from + t->part, (char *)to + t->part);
	return memory_error(failed);
}

void *table_get(enum table_id id, void *part, const void *const *labels)
{
	const struct table *t = &tables[id];
	char *entry = find_entry(t, part, labels, 0);

	if (entry)
		return entry;
	entry = table_append(t, part);
	ARRAY_EACH(f, t->fields, label_count(t)) {
		const char *label = *labels++;

		memcpy(entry + f->offset, label,
		       f->type == FIELD_TEXT ? strnlen(label, f->size - 1) : f->size);
	}
	return entry;
}

void *table_get_labels(const struct table *t, void *part, const void *like)
{
	const void *labels[LABELS_MAX];

	labels_of(t, like, labels);
	return table_get((enum table_id)(t - tables), part, labels);
}

void *table_get_like(enum table_id id, void *part, const void *like)
{
	const struct table *t = &tables[id];
	char *entry = table_like(t, part, like, 0);

	if (entry)
		return entry;
	entry = memcpy(table_append(t, part), like, t->size);
	ARRAY_EACH(f, t->fields, t->field_count)
		if (f->role > FIELD_DETAIL)
			memset(entry + f->offset, 0, f->size);
	return entry;
}

/* ---- counters ---- */

static void subtract_role(const struct table *t, enum field_role role, void *entry,
			  const void *then)
{
	ARRAY_EACH(f, t->fields, t->field_count)
		for (size_t n = f->offset; f->role == role && n < f->offset + f->size; n += 8)
			*(uint64_t *)((char *)entry + n) -=
				*(const uint64_t *)((const char *)then + n);
}

void calls_remove_server(struct calls *c, const char *server)
{
	for (int id = TABLE_OPS; id <= TABLE_OWNER_MOUNTS; id++)
		for (size_t i = table_count(&tables[id], c); i--;) {
			char *entry = table_array(&tables[id], c) + i * tables[id].size;

			if (!strcmp(entry, server))
				table_remove(&tables[id], c, entry);
		}
}

bool table_changed(const struct table *t, const void *now, const void *then)
{
	return ARRAY_FIND(f, t->fields, t->field_count,
			  f->role >= FIELD_COUNTER && f->role <= FIELD_EARLIER_COUNTER &&
				  memcmp((const char *)now + f->offset,
					 (const char *)then + f->offset, f->size) != 0);
}

static bool has_fallen(const struct table *t, enum field_role role, const void *now,
		       const void *then)
{
	ARRAY_EACH(f, t->fields, t->field_count)
		for (size_t n = f->offset; f->role == role && n < f->offset + f->size; n += 8)
			if (*(const uint64_t *)((const char *)now + n) <
			    *(const uint64_t *)((const char *)then + n))
				return true;
	return false;
}

void table_subtract(const struct table *t, void *entry, const void *then)
{
	for (enum field_role r = FIELD_COUNTER; r <= FIELD_EARLIER_COUNTER; r++) {
		/* What counted before the entry was first seen belongs to no interval. */
		const void *before = then ?: r == FIELD_COUNTER ? NULL : entry;

		if (before && !has_fallen(t, r, entry, before))
			subtract_role(t, r, entry, before);
	}
}
