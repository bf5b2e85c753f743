// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rows of a snapshot's fields, and the functions that work from any row. */
#include "snapshot/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "snapshot/delta.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* T: the entry's type; D: that of its difference. */
#define MEMBER(member) (((const T *)NULL)->member)
#define ROW(as, what, member, ...)                                                             \
	{                                                                                      \
		.offset = offsetof(T, member), .count = sizeof(MEMBER(member)) / SIZE_OF_##as, \
		.type = FIELD_##as, .role = FIELD_##what, __VA_ARGS__                          \
	}
/* The same with a difference. */
#define DIFF(as, what, member, ...) ROW(as, what, member, .delta = offsetof(D, member), __VA_ARGS__)

#define SIZE_OF_TEXT 1
#define SIZE_OF_NAME sizeof(const char *)
#define SIZE_OF_U64 8
#define SIZE_OF_U32 4
#define SIZE_OF_BOOL 1
#define SIZE_OF_DOUBLE 8
#define SIZE_OF_SIZE 8
#define SIZE_OF_TIMES 8
#define SIZE_OF_OTHER 1

/* ---- the rows; what is left out of recordings says so. clang-format off: a row a line ---- */
/* clang-format off */

#define T struct snapshot
#define D struct delta
static const struct field snapshot_fields[] = {
	ROW(U64, LARGEST, time_ns),
	ROW(DOUBLE, LARGEST, wall),
	ROW(U32, DETAIL, calls.source),
	ROW(NAME, DETAIL, calls.rpc_missing),
	ROW(U64, DETAIL, calls.unknown),
	ROW(U32, LARGEST, calls.session_slots_wanted),
	ROW(BOOL, DETAIL, faults.gpu_watched),
	ROW(U64, LARGEST, faults.open_faults),
	ROW(SIZE, DETAIL, self.rpc_hook_count),
	ROW(U64, COUNTER, calls.cpu_waiting_ns, .delta = offsetof(D, cpu_waiting_ns)),
	ROW(U64, COUNTER, calls.folded_entries, .left_out = true),
	ROW(U64, COUNTER, faults.fault_paths, .left_out = true),
	ROW(U64, COUNTER, faults.log_lost, .left_out = true),
	ROW(U64, LARGEST, self.resident_bytes, .left_out = true),
	ROW(U64, LARGEST, self.map_bytes, .left_out = true),
	ROW(U64, LARGEST, self.program_bytes, .left_out = true),
	ROW(U64, LARGEST, self.trace_bytes, .left_out = true),
	ROW(DOUBLE, LARGEST, self.export_seconds, .left_out = true),
	ROW(U64, COUNTER, self.export_errors, .left_out = true),
};
#undef T
#undef D

#define T struct rpc_op
#define D struct op_delta
static const struct field op_fields[] = {
	ROW(TEXT, LABEL, server),
	ROW(TEXT, LABEL, op),
	DIFF(TIMES, COUNTER, total),
	ROW(TIMES, COUNTER, phase, .delta = offsetof(D, phase_ns), .sums = true),
	DIFF(U64, COUNTER, sent_bytes),
	DIFF(U64, COUNTER, received_bytes),
};
#undef T
#undef D

#define T struct rpc_error
#define D struct error_delta
static const struct field error_fields[] = {
	ROW(TEXT, LABEL, server),
	ROW(TEXT, LABEL, op),
	ROW(TEXT, LABEL, status),
	DIFF(U64, COUNTER, count),
};
#undef T
#undef D

#define T struct rpc_transport_state
#define D struct transport_delta
static const struct field transport_fields[] = {
	ROW(TEXT, LABEL, server),
	ROW(TEXT, LABEL, name),
	ROW(TEXT, DETAIL, protocol),
	ROW(TEXT, ALONE, remote.address),
	ROW(U32, ALONE, remote.port),
	ROW(TEXT, ALONE, local.address),
	ROW(U32, ALONE, local.port),
	ROW(BOOL, LARGEST, alive),
	ROW(BOOL, SMALLEST, named_only),
	DIFF(U64, COUNTER, retransmits),
	DIFF(U64, COUNTER, timeouts),
	DIFF(U64, COUNTER, disconnects),
	DIFF(U64, COUNTER, connects),
	DIFF(U64, COUNTER, replies),
	DIFF(U64, COUNTER, rtt_ns),
	DIFF(U64, OWN_COUNTER, segments),
	DIFF(U64, OWN_COUNTER, segments_lost),
	ROW(U64, LARGEST, oldest_ns),
	DIFF(U64, COUNTER, saturated_ns),
	ROW(U32, LARGEST, slots_max),
	ROW(U32, SUM, slots_allocated),
	ROW(U32, SUM, slots_in_flight),
};
#undef T
#undef D

#define T struct rpc_server_state
#define D struct server_delta
static const struct field server_fields[] = {
	ROW(TEXT, LABEL, server),
	DIFF(U64, COUNTER, depth),
	ROW(U32, LARGEST, depth_max),
	ROW(U64, LARGEST, oldest_ns),
	DIFF(U64, COUNTER, credentials_ns),
	ROW(U32, LARGEST, session_slots),
	ROW(NAME, DETAIL, bound_by, .left_out = true),
};
#undef T
#undef D

#define T struct nfs_mount
static const struct field mount_fields[] = {
	ROW(TEXT, LABEL, server),
	ROW(TEXT, LABEL, export),
	ROW(TEXT, LABEL, mountpoint),
	ROW(TEXT, LABEL, version),
	ROW(BOOL, DETAIL, kerberos),
	ROW(U64, DETAIL, device, .left_out = true),
	ROW(BOOL, DETAIL, elsewhere, .left_out = true),
	ROW(TEXT, DETAIL, remote.address, .left_out = true),
	ROW(U32, DETAIL, remote.port, .left_out = true),
};
#undef T

#define T struct slow_call
static const struct field slow_fields[] = {
	ROW(DOUBLE, DETAIL, time),
	ROW(TEXT, DETAIL, server),
	ROW(TEXT, DETAIL, op),
	ROW(TEXT, DETAIL, mount),
	ROW(TEXT, DETAIL, comm),
	ROW(U32, DETAIL, pid),
	ROW(U32, DETAIL, status),
	ROW(U64, DETAIL, total_ns),
	ROW(U64, DETAIL, phase_ns),
	ROW(U32, DETAIL, client, .left_out = true),
};
#undef T

#define T struct fault
#define D struct fault_delta
static const struct field fault_fields[] = {
	ROW(TEXT, LABEL, device),
	ROW(U32, LABEL, code),
	ROW(BOOL, LABEL, nvswitch),
	ROW(TEXT, LABEL, severity),
	ROW(TEXT, LABEL, action),
	DIFF(U64, COUNTER, count),
	ROW(DOUBLE, LARGEST, last),
	ROW(U64, COUNTER, incidents, .left_out = true),
	ROW(DOUBLE, SMALLEST, first, .left_out = true),
	ROW(U32, DETAIL, causes, .left_out = true),
	ROW(U32, DETAIL, place, .left_out = true),
	ROW(OTHER, ALONE, repeats, .left_out = true),
	ROW(U64, SUM, recent, .left_out = true),
	ROW(U32, DETAIL, boots, .left_out = true),
};
#undef T
#undef D

#define T struct kernel_event
#define D struct kernel_event_delta
static const struct field kernel_event_fields[] = {
	ROW(BOOL, LABEL, gpu_driver),
	ROW(TEXT, LABEL, kind),
	ROW(TEXT, LABEL, device),
	DIFF(U64, COUNTER, count),
	ROW(DOUBLE, LARGEST, last),
};
#undef T
#undef D

#define T struct hook_state
static const struct field hook_fields[] = {
	ROW(NAME, LABEL, name),
	ROW(BOOL, LARGEST, attached),
};
#undef T

#define T struct drop_count
static const struct field drop_fields[] = {
	ROW(NAME, LABEL, reason),
	ROW(U64, COUNTER, count),
};
#undef T

#define T struct episode_stats
static const struct field episode_fields[] = {
	ROW(TEXT, LABEL, server),
	ROW(NAME, LABEL, kind),
	ROW(TIMES, COUNTER, seconds),
	ROW(U64, COUNTER, bytes),
};
#undef T

#define T struct rpc_storage
static const struct field storage_fields[] = {
	ROW(TEXT, LABEL, server),
	ROW(TEXT, DETAIL, storage),
};
#undef T

#define T struct gpu_info
static const struct field gpu_fields[] = {
	ROW(TEXT, LABEL, gpu),
	ROW(TEXT, DETAIL, uuid),
	ROW(TEXT, DETAIL, serial),
	ROW(BOOL, DETAIL, rate_limited),
	ROW(U64, LARGEST, past_failures),
};
#undef T

#define T struct unverified_xid
static const struct field unverified_fields[] = {
	ROW(TEXT, LABEL, gpu),
	ROW(U32, LABEL, code),
	ROW(U64, COUNTER, count),
};
#undef T

#define T struct gpu_recovery
static const struct field recovery_fields[] = {
	ROW(TEXT, LABEL, gpu),
	ROW(TEXT, LABEL, evidence),
	ROW(DOUBLE, LARGEST, time),
};
#undef T

#define T struct health_state
static const struct field health_fields[] = {
	ROW(NAME, LABEL, check),
	ROW(U32, LARGEST, level),
};
#undef T

#define T struct program_run
static const struct field program_fields[] = {
	ROW(TEXT, LABEL, name),
	ROW(U64, COUNTER, runs),
	ROW(U64, COUNTER, ns),
};
#undef T
/* clang-format on */

/* ---- the tables ---- */

#define TYPE_OF(of, member) __typeof__(*((of *)NULL)->member)
#define TABLE(in, where, list, number, rows, ...)                                      \
	{                                                                              \
		.part = offsetof(struct snapshot, where), .array = offsetof(in, list), \
		.entries = offsetof(in, number), .size = sizeof(TYPE_OF(in, list)),    \
		.fields = rows, .field_count = LENGTH(rows), __VA_ARGS__               \
	}
#define CALLS(...) TABLE(struct calls, calls, __VA_ARGS__)
#define FAULTS(...) TABLE(struct fault_counts, faults, __VA_ARGS__)
#define SELF(...) TABLE(struct self, self, __VA_ARGS__, .fixed = true)
#define DELTA(list, number)                              \
	.delta_array = offsetof(struct delta, list),     \
	.delta_entries = offsetof(struct delta, number), \
	.delta_size = sizeof(TYPE_OF(struct delta, list))

const struct table tables[TABLES] = {
	[TABLE_SNAPSHOT] = { .size = sizeof(struct snapshot),
			     .max = 1,
			     .fixed = true,
			     .fields = snapshot_fields,
			     .field_count = LENGTH(snapshot_fields) },
	[TABLE_OPS] = CALLS(ops, op_count, op_fields, .max = 2048, .series = RPC_PHASES,
			    DELTA(ops, op_count)),
	[TABLE_ERRORS] = CALLS(errors, error_count, error_fields, .max = 4096, .series = 1,
			       DELTA(errors, error_count)),
	[TABLE_TRANSPORTS] = CALLS(transports, transport_count, transport_fields, .max = 4096,
				   .series = RPC_LIMITS, DELTA(transports, transport_count)),
	[TABLE_SERVERS] = CALLS(servers, server_count, server_fields, .max = 2048,
				.series = RPC_QUEUES, DELTA(servers, server_count)),
	[TABLE_MOUNTS] = CALLS(mounts, mount_count, mount_fields, .max = 4096, .series = 1),
	[TABLE_SLOW] = CALLS(slow, slow_count, slow_fields, .max = 4096),
	[TABLE_FAULTS] =
		FAULTS(faults, fault_count, fault_fields, .max = 4096, DELTA(faults, fault_count)),
	[TABLE_KERNEL_EVENTS] = FAULTS(kernel_events, kernel_event_count, kernel_event_fields,
				       .max = 4096, DELTA(kernel_events, kernel_event_count)),
	[TABLE_HOOKS] = SELF(hooks, hook_count, hook_fields, .max = SELF_HOOKS),
	[TABLE_DROPS] = SELF(drops, drop_count, drop_fields, .max = SELF_DROPS),
	[TABLE_EPISODES] = CALLS(episodes, episode_count, episode_fields),
	[TABLE_STORAGES] = CALLS(storages, storage_count, storage_fields, .series = 1),
	[TABLE_GPUS] = FAULTS(gpus, gpu_count, gpu_fields),
	[TABLE_UNVERIFIED] = FAULTS(unverified, unverified_count, unverified_fields),
	[TABLE_RECOVERIES] = FAULTS(recoveries, recovery_count, recovery_fields),
	[TABLE_HEALTH] = SELF(health, health_count, health_fields),
	[TABLE_PROGRAMS] = SELF(programs, program_count, program_fields),
};

size_t table_count(const struct table *t, const void *part)
{
	return t->entries ? *(const size_t *)((const char *)part + t->entries) : 1;
}

char *table_array(const struct table *t, const void *part)
{
	char *member = (char *)part + t->array;

	return t->fixed ? member : *(char **)member;
}

void table_free_part(void *part, size_t offset)
{
	for (const struct table *t = tables + 1; t < tables + TABLES; t++)
		if (t->part == offset && !t->fixed)
			free(table_array(t, part));
}

/* ---- entries ---- */

static size_t label_count(const struct table *t)
{
	size_t count = 0;

	while (count < t->field_count && t->fields[count].role == FIELD_LABEL)
		count++;
	return count;
}

/* Whether a label of an entry is this one: a text, or the number at @label. */
static bool is_label(const struct field *f, const char *at, const char *label)
{
	switch (f->type) {
	case FIELD_NAME:
		at = *(const char *const *)at;
		/* fall through */
	case FIELD_TEXT:
		return *at == *label && !strcmp(at, label);
	case FIELD_BOOL:
		return *at == *label;
	default:
		return !memcmp(at, label, sizeof(uint32_t));
	}
}

/* The label of an entry, as is_label() takes it. */
static const char *label_of(const struct field *f, const void *entry)
{
	const char *at = (const char *)entry + f->offset;

	return f->type == FIELD_NAME ? *(const char *const *)at : at;
}

/* From the last label on, in which most entries differ. */
static bool same_labels(const struct table *t, size_t labels, const void *a, const void *b)
{
	while (labels--)
		if (!is_label(&t->fields[labels], (const char *)a + t->fields[labels].offset,
			      label_of(&t->fields[labels], b)))
			return false;
	return true;
}

void *table_like(const struct table *t, const void *part, const void *like, size_t at)
{
	size_t count = table_count(t, part), labels = label_count(t);
	char *array = table_array(t, part);

	for (size_t i = 0; i < count; i++, at++) {
		if (at >= count)
			at = 0;
		if (same_labels(t, labels, array + at * t->size, like))
			return array + at * t->size;
	}
	return NULL;
}

static void *append(const struct table *t, void *part)
{
	return array_append((void **)((char *)part + t->array),
			    (size_t *)((char *)part + t->entries), t->size);
}

void *table_get(const struct table *t, void *part, const void *const *labels)
{
	size_t count = table_count(t, part), number = label_count(t), len, i;
	char *entry = table_array(t, part);

	for (; count--; entry += t->size) {
		for (i = number; i; i--)
			if (!is_label(&t->fields[i - 1], entry + t->fields[i - 1].offset,
				      labels[i - 1]))
				break;
		if (!i)
			return entry;
	}
	entry = append(t, part);
	for (i = 0; entry && i < number; i++) {
		const struct field *f = &t->fields[i];
		char *at = entry + f->offset;

		if (f->type == FIELD_TEXT) {
			len = strnlen(labels[i], f->count - 1);
			memcpy(at, labels[i], len);
		} else if (f->type == FIELD_NAME) {
			*(const char **)at = labels[i];
		} else {
			memcpy(at, labels[i], f->type == FIELD_BOOL ? 1 : sizeof(uint32_t));
		}
	}
	return entry;
}

size_t field_size(const struct field *f)
{
	return f->count *
	       (f->type == FIELD_U32                                                     ? 4 :
		f->type == FIELD_TEXT || f->type == FIELD_BOOL || f->type == FIELD_OTHER ? 1 :
											   8);
}

void *table_get_like(const struct table *t, void *part, const void *like)
{
	char *entry = table_like(t, part, like, 0);

	if (entry)
		return entry;
	entry = append(t, part);
	for (size_t i = 0; entry && i < t->field_count; i++) {
		const struct field *f = &t->fields[i];

		if (f->role <= FIELD_DETAIL)
			memcpy(entry + f->offset, (const char *)like + f->offset, field_size(f));
	}
	return entry;
}

/* ---- sums ---- */

#define MERGE(type, to, from, count, role)                            \
	for (size_t i_ = 0; i_ < (count); i_++) {                     \
		type *x = (type *)(to) + i_;                          \
		const type *y = (const type *)(from) + i_;            \
		*x = (role) == FIELD_SMALLEST ? (*y < *x ? *y : *x) : \
		     (role) == FIELD_LARGEST  ? (*y > *x ? *y : *x) : \
						(type)(*x + *y);       \
	}

static void merge(const struct field *f, char *to, const char *from)
{
	switch (f->type) {
	case FIELD_TIMES:
		for (size_t i = 0; i < f->count * 8 / sizeof(struct time_histogram); i++)
			time_histogram_add((struct time_histogram *)to + i,
					   (const struct time_histogram *)from + i);
		break;
	case FIELD_U64:
		MERGE(uint64_t, to, from, f->count, f->role);
		break;
	case FIELD_U32:
		MERGE(uint32_t, to, from, f->count, f->role);
		break;
	case FIELD_DOUBLE:
		MERGE(double, to, from, f->count, f->role);
		break;
	default:
		MERGE(bool, to, from, f->count, f->role);
	}
}

void table_add(const struct table *t, void *to, const void *from, bool moments)
{
	for (const struct field *f = t->fields; f < t->fields + t->field_count; f++) {
		const char *y = (const char *)from + f->offset;
		char *x = (char *)to + f->offset;

		if (f->role == FIELD_COUNTER || (moments && f->role > FIELD_COUNTER))
			merge(f, x, y);
		else if (moments && f->role == FIELD_ALONE)
			memset(x, 0, field_size(f));
		else if (moments && f->role == FIELD_DETAIL && f->type == FIELD_NAME &&
			 !*(const char **)x)
			*(const char **)x = *(const char *const *)y;
	}
}

/* ---- differences ---- */

#define TIMES_WORDS (sizeof(struct time_histogram) / sizeof(uint64_t))

/* Whether a number that has a difference fell. Where a histogram's sum is the same, only its first and last bucket may
 * have changed. */
static bool fell(const struct field *f, const uint64_t *now, const uint64_t *then)
{
	size_t step = f->sums ? TIMES_WORDS : 1;

	if (f->type == FIELD_TIMES && !f->sums && *now == *then)
		return now[1] < then[1] || now[f->count - 1] < then[f->count - 1];
	for (size_t i = 0; i < f->count; i += step)
		if (now[i] < then[i])
			return true;
	return false;
}

static void subtract(const struct field *f, uint64_t *to, const uint64_t *now, const uint64_t *then)
{
	size_t step = f->sums ? TIMES_WORDS : 1;

	if (f->type == FIELD_TIMES && !f->sums && then && *now == *then) {
		to[1] = now[1] - then[1];
		to[f->count - 1] = now[f->count - 1] - then[f->count - 1];
		return;
	}
	for (size_t i = 0; i < f->count; i += step)
		*to++ = now[i] - (then ? then[i] : 0);
}

void table_subtract(const struct table *t, void *to, const void *now, const void *then)
{
	const struct field *end = t->fields + t->field_count;
	bool again[2] = { !then, !then }; /* counters, own counters */

	for (const struct field *f = t->fields; f < end && then; f++)
		if (f->delta)
			again[f->role == FIELD_OWN_COUNTER] |=
				fell(f, (const uint64_t *)((const char *)now + f->offset),
				     (const uint64_t *)((const char *)then + f->offset));
	for (const struct field *f = t->fields; f < end; f++)
		if (f->delta)
			subtract(f, (uint64_t *)((char *)to + f->delta),
				 (const uint64_t *)((const char *)now + f->offset),
				 again[f->role == FIELD_OWN_COUNTER] ?
					 NULL :
					 (const uint64_t *)((const char *)then + f->offset));
}
