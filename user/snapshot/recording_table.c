// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a recording keeps of a snapshot. */
#include "snapshot/recording_table.h"

#include <stdbool.h>
#include <string.h>

#define MEMBER(type, member) (((const type *)NULL)->member)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT(type, member)                                                          \
	{                                                                           \
		offsetof(type, member), RECORDED_TEXT, sizeof(MEMBER(type, member)) \
	}
#define ONE(type, member, as)                            \
	{                                                \
		offsetof(type, member), RECORDED_##as, 1 \
	}
#define MANY(type, member, as, element)                                                         \
	{                                                                                       \
		offsetof(type, member), RECORDED_##as, sizeof(MEMBER(type, member)) / (element) \
	}

static const struct recorded_field snapshot_fields[] = {
	ONE(struct snapshot, time_ns, U64),
	ONE(struct snapshot, wall, DOUBLE),
	ONE(struct snapshot, calls.source, U32),
	ONE(struct snapshot, calls.rpc_missing, NAME),
	ONE(struct snapshot, calls.unknown, U64),
	ONE(struct snapshot, calls.session_slots_wanted, U32),
	ONE(struct snapshot, faults.gpu_watched, BOOL),
	ONE(struct snapshot, faults.open_faults, U64),
	ONE(struct snapshot, self.rpc_hook_count, SIZE),
	ONE(struct snapshot, calls.cpu_waiting_ns, U64),
};

static const struct recorded_field op_fields[] = {
	TEXT(struct rpc_op, server),         TEXT(struct rpc_op, op),
	MANY(struct rpc_op, total, U64, 8),  MANY(struct rpc_op, phase, U64, 8),
	ONE(struct rpc_op, sent_bytes, U64), ONE(struct rpc_op, received_bytes, U64),
};

static const struct recorded_field error_fields[] = {
	TEXT(struct rpc_error, server),
	TEXT(struct rpc_error, op),
	TEXT(struct rpc_error, status),
	ONE(struct rpc_error, count, U64),
};

static const struct recorded_field transport_fields[] = {
	TEXT(struct rpc_transport_state, server),
	TEXT(struct rpc_transport_state, name),
	TEXT(struct rpc_transport_state, protocol),
	TEXT(struct rpc_transport_state, remote.address),
	ONE(struct rpc_transport_state, remote.port, U32),
	TEXT(struct rpc_transport_state, local.address),
	ONE(struct rpc_transport_state, local.port, U32),
	ONE(struct rpc_transport_state, alive, BOOL),
	ONE(struct rpc_transport_state, named_only, BOOL),
	ONE(struct rpc_transport_state, retransmits, U64),
	ONE(struct rpc_transport_state, timeouts, U64),
	ONE(struct rpc_transport_state, disconnects, U64),
	ONE(struct rpc_transport_state, connects, U64),
	ONE(struct rpc_transport_state, replies, U64),
	ONE(struct rpc_transport_state, rtt_ns, U64),
	ONE(struct rpc_transport_state, segments, U64),
	ONE(struct rpc_transport_state, segments_lost, U64),
	ONE(struct rpc_transport_state, oldest_ns, U64),
	MANY(struct rpc_transport_state, saturated_ns, U64, 8),
	ONE(struct rpc_transport_state, slots_max, U32),
	ONE(struct rpc_transport_state, slots_allocated, U32),
	ONE(struct rpc_transport_state, slots_in_flight, U32),
};

static const struct recorded_field server_fields[] = {
	TEXT(struct rpc_server_state, server),
	MANY(struct rpc_server_state, depth, U64, 8),
	MANY(struct rpc_server_state, depth_max, U32, 4),
	MANY(struct rpc_server_state, oldest_ns, U64, 8),
	ONE(struct rpc_server_state, credentials_ns, U64),
	ONE(struct rpc_server_state, session_slots, U32),
};

static const struct recorded_field mount_fields[] = {
	TEXT(struct nfs_mount, server),        TEXT(struct nfs_mount, export),
	TEXT(struct nfs_mount, mountpoint),    TEXT(struct nfs_mount, version),
	ONE(struct nfs_mount, kerberos, BOOL),
};

static const struct recorded_field slow_fields[] = {
	ONE(struct slow_call, time, DOUBLE),
	TEXT(struct slow_call, server),
	TEXT(struct slow_call, op),
	TEXT(struct slow_call, mount),
	TEXT(struct slow_call, comm),
	ONE(struct slow_call, pid, U32),
	ONE(struct slow_call, status, U32),
	ONE(struct slow_call, total_ns, U64),
	MANY(struct slow_call, phase_ns, U64, 8),
};

static const struct recorded_field fault_fields[] = {
	TEXT(struct fault, device),        ONE(struct fault, code, U32),
	ONE(struct fault, nvswitch, BOOL), TEXT(struct fault, severity),
	TEXT(struct fault, action),        ONE(struct fault, count, U64),
	ONE(struct fault, last, DOUBLE),
};

static const struct recorded_field event_fields[] = {
	ONE(struct kernel_event, gpu_driver, BOOL), TEXT(struct kernel_event, kind),
	TEXT(struct kernel_event, device),          ONE(struct kernel_event, count, U64),
	ONE(struct kernel_event, last, DOUBLE),
};

static const struct recorded_field hook_fields[] = {
	ONE(struct hook_state, name, NAME),
	ONE(struct hook_state, attached, BOOL),
};

static const struct recorded_field drop_fields[] = {
	ONE(struct drop_count, reason, NAME),
	ONE(struct drop_count, count, U64),
};

#define TABLE(list, number, type, limit, rows)                                      \
	{                                                                           \
		.array = offsetof(struct snapshot, list),                           \
		.entries = offsetof(struct snapshot, number), .size = sizeof(type), \
		.max = (limit), .fields = (rows), .field_count = LENGTH(rows)       \
	}
#define FIXED(list, number, type, rows)                                                        \
	{                                                                                      \
		.array = offsetof(struct snapshot, list),                                      \
		.entries = offsetof(struct snapshot, number), .size = sizeof(type),            \
		.max = LENGTH(MEMBER(struct snapshot, list)), .fixed = true, .fields = (rows), \
		.field_count = LENGTH(rows)                                                    \
	}

const struct recorded_table recorded_tables[] = {
	{ .size = sizeof(struct snapshot),
	  .max = 1,
	  .fixed = true,
	  .fields = snapshot_fields,
	  .field_count = LENGTH(snapshot_fields) },
	TABLE(calls.ops, calls.op_count, struct rpc_op, 2048, op_fields),
	TABLE(calls.errors, calls.error_count, struct rpc_error, 4096, error_fields),
	TABLE(calls.transports, calls.transport_count, struct rpc_transport_state, 4096,
	      transport_fields),
	TABLE(calls.servers, calls.server_count, struct rpc_server_state, 2048, server_fields),
	TABLE(calls.mounts, calls.mount_count, struct nfs_mount, 4096, mount_fields),
	TABLE(calls.slow, calls.slow_count, struct slow_call, 4096, slow_fields),
	TABLE(faults.faults, faults.fault_count, struct fault, 4096, fault_fields),
	TABLE(faults.kernel_events, faults.kernel_event_count, struct kernel_event, 4096,
	      event_fields),
	FIXED(self.hooks, self.hook_count, struct hook_state, hook_fields),
	FIXED(self.drops, self.drop_count, struct drop_count, drop_fields),
};

const size_t recorded_table_count = LENGTH(recorded_tables);

size_t recorded_words(const struct recorded_table *t)
{
	size_t words = 0;

	for (size_t i = 0; i < t->field_count; i++)
		words += t->fields[i].type == RECORDED_TEXT ? 1 : t->fields[i].count;
	return words;
}

size_t recorded_entries(const struct recorded_table *t, const struct snapshot *s)
{
	size_t count;

	if (!t->entries)
		return 1;
	memcpy(&count, (const char *)s + t->entries, sizeof(count));
	return count;
}

char *recorded_array(const struct recorded_table *t, const struct snapshot *s)
{
	char *member = (char *)s + t->array;

	return t->fixed ? member : *(char **)member;
}
