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

static const char *const fact_names[RPC_FACTS] = {
#define TABLE_ROW(fact, name, sets) [RPC_FACT_##fact] = name,
#include "facts.inc"
#undef TABLE_ROW
};

/* ---- the rows. clang-format off: a row a line ---- */
/* clang-format off */

static const struct field snapshot_fields[] = {
	ROW(snapshot, U64, GAUGE, time_ns),
	ROW(snapshot, DOUBLE, GAUGE, wall),
	ROW(snapshot, CHOICE, DETAIL, calls.source, NAMES(rpc_source_names)),
	ROW(snapshot, U64, DETAIL, calls.source_number),
	ROW(snapshot, TEXT, DETAIL, calls.rpc_missing),
	ROW(snapshot, SET, DETAIL, calls.unknown, NAMES(fact_names)),
	ROW(snapshot, U32, GAUGE, calls.slots_wanted, NAMES(slot_setting_names)),
	ROW(snapshot, BOOL, DETAIL, faults.gpu_watched),
	ROW(snapshot, U64, DETAIL, self.rpc_hook_count),
	ROW(snapshot, U64, COUNTER, calls.cpu_waiting_ns),
	ROW(snapshot, U64, GAUGE, calls.dirty_bytes),
	ROW(snapshot, U64, GAUGE, calls.dirty_limit_bytes),
};

static const struct field op_fields[] = {
	ROW(rpc_op, TEXT, LABEL, server),
	ROW(rpc_op, TEXT, LABEL, op),
	ROW(rpc_op, TIMES, COUNTER, total),
	ROW(rpc_op, TIMES, COUNTER, phase, NAMES(rpc_phase_names), FACT(PHASE)),
	ROW(rpc_op, U64, COUNTER, sent_bytes, FACT(SENT_BYTES)),
	ROW(rpc_op, U64, COUNTER, received_bytes, FACT(RECEIVED_BYTES)),
};

static const struct field error_fields[] = {
	ROW(rpc_error, TEXT, LABEL, server),
	ROW(rpc_error, TEXT, LABEL, op),
	ROW(rpc_error, TEXT, LABEL, status),
	ROW(rpc_error, U64, COUNTER, count),
	ROW(rpc_error, TEXT, DETAIL, mountpoint),
	ROW(rpc_error, TEXT, DETAIL, owner),
};

static const struct field transport_fields[] = {
	ROW(rpc_transport_state, TEXT, LABEL, server),
	ROW(rpc_transport_state, TEXT, LABEL, name),
	ROW(rpc_transport_state, TEXT, DETAIL, protocol),
	ROW(rpc_transport_state, TEXT, DETAIL, remote.address),
	ROW(rpc_transport_state, U32, DETAIL, remote.port),
	ROW(rpc_transport_state, TEXT, DETAIL, local.address),
	ROW(rpc_transport_state, U32, DETAIL, local.port),
	ROW(rpc_transport_state, BOOL, GAUGE, alive),
	ROW(rpc_transport_state, U64, COUNTER, retransmits, FACT(RETRANSMITS)),
	ROW(rpc_transport_state, U64, COUNTER, timeouts, FACT(TIMEOUTS)),
	ROW(rpc_transport_state, U64, COUNTER, disconnects, FACT(DISCONNECTS)),
	ROW(rpc_transport_state, U64, EARLIER_COUNTER, connects, FACT(CONNECTS)),
	ROW(rpc_transport_state, U64, COUNTER, replies, FACT(REPLIES)),
	ROW(rpc_transport_state, U64, COUNTER, rtt_ns),
	ROW(rpc_transport_state, U64, OWN_COUNTER, segments),
	ROW(rpc_transport_state, U64, OWN_COUNTER, segments_lost),
	ROW(rpc_transport_state, U64, OWN_COUNTER, received_bytes),
	ROW(rpc_transport_state, BOOL, GAUGE, carries),
	ROW(rpc_transport_state, U32, GAUGE, unacked),
	ROW(rpc_transport_state, U32, GAUGE, acked),
	ROW(rpc_transport_state, BOOL, GAUGE, behind),
	ROW(rpc_transport_state, U32, GAUGE, rcv_wnd),
	ROW(rpc_transport_state, U64, GAUGE, min_rtt_ns),
	ROW(rpc_transport_state, U64, GAUGE, srtt_ns),
	ROW(rpc_transport_state, U64, GAUGE, oldest_ns),
	ROW(rpc_transport_state, U32, GAUGE, connect_error),
	ROW(rpc_transport_state, U64, COUNTER, saturated_ns, NAMES(rpc_limit_names), FACT(SATURATED)),
	ROW(rpc_transport_state, U32, GAUGE, slots_max, FACT(SLOTS_MAX)),
	ROW(rpc_transport_state, U32, GAUGE, slots_allocated, FACT(SLOTS_ALLOCATED)),
	ROW(rpc_transport_state, U32, GAUGE, slots_in_flight, FACT(SLOTS_IN_FLIGHT)),
};

static const struct field server_fields[] = {
	ROW(rpc_server_state, TEXT, LABEL, server),
	ROW(rpc_server_state, U64, COUNTER, depth, NAMES(rpc_queue_names), FACT(DEPTH)),
	ROW(rpc_server_state, U32, GAUGE, depth_max, NAMES(rpc_queue_names), FACT(DEPTH_MAX)),
	ROW(rpc_server_state, U64, GAUGE, oldest_ns, NAMES(rpc_queue_names), FACT(OLDEST)),
	ROW(rpc_server_state, U64, COUNTER, credentials_ns, FACT(CREDENTIALS)),
	ROW(rpc_server_state, U64, COUNTER, earlier_ns),
	ROW(rpc_server_state, U64, COUNTER, gaps, NAMES(gap_names)),
	ROW(rpc_server_state, U32, GAUGE, session_slots, FACT(SESSION_SLOTS)),
	ROW(rpc_server_state, U64, GAUGE, upcall_ns),
	ROW(rpc_server_state, TEXT, DETAIL, upcall_by),
	ROW(rpc_server_state, TEXT, DETAIL, oldest_op),
	ROW(rpc_server_state, TEXT, DETAIL, oldest_comm),
	ROW(rpc_server_state, U32, DETAIL, oldest_pid),
	ROW(rpc_server_state, U64, COUNTER, draining_ns, FACT(DRAINING)),
	ROW(rpc_server_state, U64, GAUGE, draining_now_ns, FACT(DRAINING)),
	ROW(rpc_server_state, U64, COUNTER, lock_calls),
	ROW(rpc_server_state, U64, COUNTER, lock_errors),
	ROW(rpc_server_state, U64, COUNTER, lock_ns),
	ROW(rpc_server_state, U64, GAUGE, lock_wait_ns),
	ROW(rpc_server_state, TEXT, DETAIL, lock_wait_by),
};

static const struct field mount_fields[] = {
	ROW(nfs_mount, TEXT, LABEL, server),
	ROW(nfs_mount, TEXT, LABEL, export),
	ROW(nfs_mount, TEXT, LABEL, mountpoint),
	ROW(nfs_mount, TEXT, LABEL, version),
	ROW(nfs_mount, BOOL, DETAIL, kerberos),
	ROW(nfs_mount, TEXT, DETAIL, options[NFS_RSIZE]),
	ROW(nfs_mount, TEXT, DETAIL, options[NFS_NCONNECT]),
	ROW(nfs_mount, TEXT, DETAIL, options[NFS_AC]),
	ROW(nfs_mount, TEXT, DETAIL, options[NFS_LOOKUPCACHE]),
	ROW(nfs_mount, TEXT, DETAIL, options[NFS_RECOVERY]),
	ROW(nfs_mount, U64, DETAIL, readahead_bytes),
	ROW(nfs_mount, BOOL, DETAIL, readahead_known),
	ROW(nfs_mount, U64, DETAIL, window_bytes),
	ROW(nfs_mount, BOOL, DETAIL, direct_writes),
	ROW(nfs_mount, U32, DETAIL, lock_waiters),
};

static const struct field calls_by_fields[] = {
	ROW(calls_by, TEXT, LABEL, server),
	ROW(calls_by, TEXT, LABEL, export),
	ROW(calls_by, TEXT, LABEL, mountpoint),
	ROW(calls_by, TEXT, LABEL, owner),
	ROW(calls_by, U64, COUNTER, sums.calls, NAMES(rpc_kind_names)),
	ROW(calls_by, U64, COUNTER, sums.total_ns, NAMES(rpc_kind_names)),
	ROW(calls_by, U64, COUNTER, sums.sent_bytes, NAMES(rpc_kind_names)),
	ROW(calls_by, U64, COUNTER, sums.received_bytes, NAMES(rpc_kind_names)),
	ROW(calls_by, U64, COUNTER, sums.errors, NAMES(rpc_kind_names)),
	ROW(calls_by, U64, COUNTER, sums.wait_ns, NAMES(rpc_kind_names)),
	ROW(calls_by, U64, COUNTER, sums.phase_ns, NAMES(rpc_phase_names)),
	ROW(calls_by, U64, GAUGE, oldest_ns),
};

static const struct field module_fields[] = {
	ROW(client_module, TEXT, LABEL, name),
	ROW(client_module, TEXT, DETAIL, build),
	ROW(client_module, TEXT, DETAIL, origin),
};

static const struct field stuck_fields[] = {
	ROW(stuck_state, TEXT, LABEL, mountpoint),
	ROW(stuck_state, BOOL, LABEL, rpc),
	ROW(stuck_state, U32, GAUGE, cause),
	ROW(stuck_state, U32, GAUGE, tasks),
	ROW(stuck_state, U64, GAUGE, oldest_ns),
};

static const struct field slow_fields[] = {
	ROW(slow_call, DOUBLE, DETAIL, time),
	ROW(slow_call, TEXT, DETAIL, server),
	ROW(slow_call, TEXT, DETAIL, op),
	ROW(slow_call, TEXT, DETAIL, mount),
	ROW(slow_call, TEXT, DETAIL, owner),
	ROW(slow_call, TEXT, DETAIL, file),
	ROW(slow_call, TEXT, DETAIL, comm),
	ROW(slow_call, U32, DETAIL, pid),
	ROW(slow_call, U32, DETAIL, status),
	ROW(slow_call, U64, DETAIL, total_ns),
	ROW(slow_call, U64, DETAIL, phase_ns, NAMES(rpc_phase_names)),
};

static const struct field file_fields[] = {
	ROW(file_calls, TEXT, DETAIL, server),   ROW(file_calls, TEXT, DETAIL, mount),
	ROW(file_calls, TEXT, DETAIL, path),     ROW(file_calls, TEXT, DETAIL, op),
	ROW(file_calls, BOOL, DETAIL, directory), ROW(file_calls, TEXT, DETAIL, owner),
	ROW(file_calls, TEXT, DETAIL, comm),     ROW(file_calls, U32, DETAIL, pid),
	ROW(file_calls, U64, DETAIL, files),     ROW(file_calls, U64, DETAIL, calls),
	ROW(file_calls, U64, DETAIL, bytes),     ROW(file_calls, U64, DETAIL, total_ns),
};

static const struct field fault_fields[] = {
	ROW(fault, TEXT, LABEL, device),
	ROW(fault, U32, LABEL, code),
	ROW(fault, BOOL, LABEL, nvswitch),
	ROW(fault, TEXT, LABEL, severity),
	ROW(fault, TEXT, LABEL, action),
	ROW(fault, U64, COUNTER, count),
	ROW(fault, DOUBLE, GAUGE, last),
	ROW(fault, U64, COUNTER, incidents),
	ROW(fault, DOUBLE, GAUGE, first),
	ROW(fault, DOUBLE, DETAIL, repeats.times),
	ROW(fault, U32, DETAIL, repeats.count, .most = FAULT_REPEATS),
	ROW(fault, U64, GAUGE, recent),
};

static const struct field kernel_event_fields[] = {
	ROW(kernel_event, BOOL, LABEL, gpu_driver),
	ROW(kernel_event, TEXT, LABEL, kind),
	ROW(kernel_event, TEXT, LABEL, device),
	ROW(kernel_event, U64, COUNTER, count),
	ROW(kernel_event, DOUBLE, GAUGE, last),
	ROW(kernel_event, DOUBLE, DETAIL, before),
	ROW(kernel_event, TEXT, DETAIL, about),
};

static const struct field hook_fields[] = {
	ROW(hook_state, TEXT, LABEL, name),
	ROW(hook_state, BOOL, GAUGE, attached),
};

static const struct field drop_fields[] = {
	ROW(drop_count, TEXT, LABEL, reason),
	ROW(drop_count, U64, COUNTER, count),
};

static const struct field episode_fields[] = {
	ROW(episode_stats, TEXT, LABEL, server),
	ROW(episode_stats, TEXT, LABEL, kind),
	ROW(episode_stats, TIMES, COUNTER, seconds),
	ROW(episode_stats, U64, COUNTER, bytes),
};

static const struct field storage_fields[] = {
	ROW(rpc_storage, TEXT, LABEL, server),
	ROW(rpc_storage, TEXT, DETAIL, storage),
};

static const struct field gpu_fields[] = {
	ROW(gpu_info, TEXT, LABEL, gpu),
	ROW(gpu_info, TEXT, DETAIL, uuid),
	ROW(gpu_info, TEXT, DETAIL, serial),
	ROW(gpu_info, BOOL, DETAIL, rate_limited),
	ROW(gpu_info, U64, GAUGE, past_failures),
};

static const struct field unverified_fields[] = {
	ROW(unverified_xid, TEXT, LABEL, gpu),
	ROW(unverified_xid, U32, LABEL, code),
	ROW(unverified_xid, U64, COUNTER, count),
};

static const struct field recovery_fields[] = {
	ROW(gpu_recovery, TEXT, LABEL, gpu),
	ROW(gpu_recovery, TEXT, LABEL, evidence),
	ROW(gpu_recovery, DOUBLE, GAUGE, time),
};

static const struct field health_fields[] = {
	ROW(health_state, TEXT, LABEL, check),
	ROW(health_state, U32, GAUGE, level),
};

static const struct field finding_fields[] = {
	ROW(finding_state, TEXT, LABEL, check),
	ROW(finding_state, TEXT, LABEL, device),
	ROW(finding_state, TEXT, LABEL, code),
};

static const struct field program_fields[] = {
	ROW(program_run, TEXT, LABEL, name),
	ROW(program_run, U64, COUNTER, runs),
	ROW(program_run, U64, COUNTER, ns),
};
/* clang-format on */

/* ---- the tables ---- */

#define TYPE_OF(of, member) __typeof__(*((of *)NULL)->member)
#define CALLS_TYPE(list) TYPE_OF(struct calls, list)
#define FAULTS_TYPE(list) TYPE_OF(struct fault_counts, list)
#define SELF_TYPE(list) TYPE_OF(struct self, list)
#define TABLE(in, where, list, number, rows, most, all)                                       \
	.name = #list, .part = offsetof(struct snapshot, where), .array = offsetof(in, list), \
	.entries = offsetof(in, number), .size = sizeof(TYPE_OF(in, list)), .fields = rows,   \
	.field_count = COUNT(rows), .max = most, .delta_all = all
#define CALLS(...) TABLE(struct calls, calls, __VA_ARGS__)
#define FAULTS(...) TABLE(struct fault_counts, faults, __VA_ARGS__)
#define SELF(list, ...) \
	TABLE(struct self, self, list, __VA_ARGS__), .room = COUNT(((struct self *)NULL)->list)

const struct table tables[TABLES] = {
	[TABLE_SNAPSHOT] = { .name = "snapshot",
			     .size = sizeof(struct snapshot),
			     .max = 1,
			     .room = 1,
			     .fields = snapshot_fields,
			     .field_count = COUNT(snapshot_fields) },
#define TABLE_ROW(table, part, ...) [TABLE_##table] = { part(__VA_ARGS__) },
#include "tables.inc"
#undef TABLE_ROW
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
	const struct field *last;
	const char *first; /* byte of the last label: it mostly differs */

	last = &t->fields[number - 1];
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): callers fill it */
	first = labels[number - 1];
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
#define TABLE_ROW(table, part, list, ...) part##_TYPE(list) table;
#include "tables.inc"
#undef TABLE_ROW
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

void *table_get(const struct table *t, void *part, const void *const *labels)
{
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
	return table_get(t, part, labels);
}

void *table_get_like(const struct table *t, void *part, const void *like)
{
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
