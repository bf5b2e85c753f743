/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happened between two snapshots of one observation.
 *
 * One rule for a counter that fell: it began again, and its new value counts. The counters of one entry begin again
 * together, as do those of TCP's present connection, which have a life of their own. An entry that is new counts from
 * 0, as do all entries of a new source of calls: 1,000 READs by one source and 1,200 by the next are 1,200 more. */
#pragma once

#include "snapshot/snapshot.h"

/* The differences of an entry. @now: the entry at the end, with its labels and its values at that moment. */
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
	uint64_t credentials_ns, earlier_ns;
	struct rpc_gaps gaps;
};

struct mount_delta {
	const struct mount_calls *now;
	struct rpc_sums sums;
};

struct owner_delta {
	const struct owner_calls *now;
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
	const struct snapshot *end; /* it must live as long */
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	double begin; /* the same in seconds since the epoch; 0: not known */
	uint64_t ns; /* 0: there was no snapshot, and there are no differences */
	uint64_t cpu_waiting_ns; /* for which a task waited for a CPU; 0: none, or unknown */

	/* In the order at the end: each server and transport, and of other entries those that have changed. */
	struct op_delta *ops;
	size_t op_count;
	struct error_delta *errors;
	size_t error_count;
	struct transport_delta *transports;
	size_t transport_count;
	struct server_delta *servers;
	size_t server_count;
	struct mount_delta *mount_calls;
	size_t mount_calls_count;
	struct owner_delta *owner_calls;
	size_t owner_calls_count;
	struct fault_delta *faults;
	size_t fault_count;
	struct kernel_event_delta *kernel_events;
	size_t kernel_event_count;
};

/* Fills @d, which is empty. @begin: all zeros if there is none. Returns 0 or -ENOMEM: then @d is empty. */
int delta_make(struct delta *d, const struct snapshot *begin, const struct snapshot *end);
void delta_free(struct delta *d);
