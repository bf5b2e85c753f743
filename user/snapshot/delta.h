/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happened between two snapshots of one observation.
 *
 * The agent and `trace` take a snapshot at the end of each interval. Its counters count from the start of the
 * observation; verdict, episodes, NFS watch and session need what each interval added. The difference is computed once
 * for all of them, so that they cannot disagree.
 *
 * Invariant: if nothing began again, the differences of all intervals add up to the last counter.
 *
 * A counter that fell has begun again, and its new value is the difference. Counters of one entry begin again together:
 * if one of them fell, the new values of all are their differences. Otherwise `calls` could be the 7 since a restart
 * while `seconds` were still the 300 - 290 across it, and the mean would be wrong. TCP's counters belong to the present
 * connection, which is replaced while the transport goes on; they are a group of their own (FIELD_OWN_COUNTER).
 *
 * An entry that is new counts from 0. Exception: TCP's counters, which include what the connection had counted before it
 * was first seen; their first difference is 0.
 *
 * A new source of calls begins all counters of calls anew: 1,000 READs by one source and 1,200 by the next are 1,200 more.
 *
 * Example: calls 100 -> 130, retransmits 2 -> 2: differences 30, 0. calls 130 -> 7, retransmits 2 -> 1: 7, 1.
 *
 * table.c has a row for each field and says which group it is in. Gauges have no difference: read them from .now. */
#pragma once

#include "snapshot/snapshot.h"

/* The differences of an entry. now: the entry at the end of the interval, with its labels and gauges. */
struct op_delta {
	const struct rpc_op *now;
	struct time_histogram total;
	uint64_t phase_ns[RPC_PHASES];
	uint64_t sent_bytes, received_bytes;
};

struct error_delta {
	const struct rpc_error *now;
	uint64_t count;
};

struct transport_delta {
	const struct rpc_transport_state *now;
	uint64_t retransmits, timeouts, disconnects, connects;
	uint64_t replies, rtt_ns;
	uint64_t segments, segments_lost, received_bytes;
	uint64_t saturated_ns[RPC_LIMITS];
};

struct server_delta {
	const struct rpc_server_state *now;
	struct depth_histogram depth[RPC_QUEUES];
	uint64_t credentials_ns, earlier_ns, draining_ns;
	struct rpc_gaps gaps;
};

struct calls_by_delta {
	const struct calls_by *now;
	struct rpc_sums sums;
};

struct fault_delta {
	const struct fault *now;
	uint64_t count;
};

struct kernel_event_delta {
	const struct kernel_event *now;
	uint64_t count;
};

/* Initialise with {}. */
struct delta {
	const struct snapshot *end; /* must live as long as the delta */
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	double begin; /* the same moment in seconds since the epoch; 0: not known */
	uint64_t ns; /* length; 0: no snapshot was at the begin, and there are no differences */
	uint64_t cpu_waiting_ns; /* time in which a task waited for a CPU; 0: none, or unknown */

	/* In the order of the snapshot at the end: all servers and transports, other entries only if they have changed. */
	struct op_delta *ops;
	size_t op_count;
	struct error_delta *errors;
	size_t error_count;
	struct transport_delta *transports;
	size_t transport_count;
	struct server_delta *servers;
	size_t server_count;
	struct calls_by_delta *mount_calls;
	size_t mount_calls_count;
	struct calls_by_delta *owner_calls;
	size_t owner_calls_count;
	struct calls_by_delta *owner_mounts;
	size_t owner_mount_count;
	struct fault_delta *faults;
	size_t fault_count;
	struct kernel_event_delta *kernel_events;
	size_t kernel_event_count;
};

/* Fills @d, which must be empty. @begin is all zeros if there is no snapshot. Returns 0, or -ENOMEM with @d empty. */
int delta_make(struct delta *d, const struct snapshot *begin, const struct snapshot *end);
void delta_free(struct delta *d);
