/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session of `xidscope trace`: all that its sinks show, from its snapshots alone. So a
 * recording of the snapshots gives the same again.
 */
#ifndef XIDSCOPE_SESSION_H
#define XIDSCOPE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits/episodes.h"
#include "session/session_filter.h"
#include "snapshot/snapshot.h"
#include "limits/verdict.h"

/* Intervals that are kept: if there are more, each two become one. */
#define SESSION_INTERVALS 600
/* The slowest calls, and the first events, that are kept. */
#define SESSION_SLOW_CALLS 100
#define SESSION_EVENTS 1000

/* A server that has not answered a call for so long is reported as hung. */
#define SESSION_HUNG_NS UINT64_C(5000000000)

/* What happened on one server in an interval. */
struct session_point {
	struct time_histogram total;
	uint64_t calls; /* that ended */
	uint64_t phase_ns[RPC_PHASES];
	uint64_t sent_bytes, received_bytes;
	uint64_t saturated_ns[RPC_LIMITS]; /* of the transport with the most */
	uint64_t retransmits, timeouts, disconnects, connects;
	uint64_t errors; /* but for what programs expect, such as ENOENT */
	/* At the end of the interval; of several that became one, the largest. */
	uint32_t in_flight, slots; /* of all transports; 0 slots: not known, or not limited */
	uint64_t oldest_ns; /* age of the oldest call that waits for anything */
};

struct session_interval {
	double time; /* its begin, seconds since the epoch */
	uint64_t ns; /* its length */
	struct session_point *points; /* by the number of the server */
	size_t count; /* servers known at that time */
};

enum session_event_kind {
	SESSION_FAULT,
	SESSION_KERNEL_EVENT,
	SESSION_HUNG,
	SESSION_ANSWERS, /* after it was hung */
	SESSION_DISCONNECT,
	SESSION_EVENT_KINDS,
};

extern const char *const session_event_names[SESSION_EVENT_KINDS];

struct session_event {
	enum session_event_kind kind;
	double time; /* seconds since the epoch */
	char name[LABEL_SIZE]; /* server, or device */
	char what[40]; /* of a kernel event its kind; of a fault its severity */
	unsigned int code; /* of a fault */
	bool nvswitch; /* a fault: it is an SXid */
	uint64_t count;
};

struct session_server {
	char name[LABEL_SIZE];
	bool hung;
	struct session_point sums; /* of all intervals */
};

struct session {
	struct session_filter filter;
	bool keep_intervals; /* for those who show them; set it before the first snapshot */
	struct snapshot first, last; /* see session_end() */
	struct snapshot before; /* the one before the last, unless that is the first */

	struct session_server *servers;
	size_t server_count;
	struct session_interval latest;
	struct session_interval *intervals;
	size_t interval_count;
	size_t merged; /* snapshots' intervals in each of them */
	size_t pending; /* ... in the last of them */

	struct session_event *events;
	size_t event_count;
	uint64_t events_left_out;
	struct slow_call *slow; /* the slowest first */
	size_t slow_count;
	uint64_t slow_calls; /* in all */
	struct verdict_history verdicts;
	struct episodes episodes;
};

/* Takes the next snapshot over; *@s is empty then. The second and each later one end an interval,
 * .latest. Returns 0 or -ENOMEM: then a part is not added. */
int session_add(struct session *t, struct snapshot *s);

/* After the last snapshot: subtracts the first one from .last, by snapshot_subtract(), sorts the
 * events by time, and ends the episodes. Returns 0 or -ENOMEM. */
int session_end(struct session *t);

/* Initialise with {}, and set .filter and .keep_intervals. */
void session_free(struct session *t);

/* The snapshot with which the latest interval began. */
const struct snapshot *session_before(const struct session *t);

/* From the first to the last snapshot. */
double session_seconds(const struct session *t);

/* The wall time of a moment within the session, CLOCK_MONOTONIC: seconds since the epoch. */
double session_wall(const struct session *t, uint64_t monotonic_ns);

/* Whether the filter lets it through. */
bool session_wants_server(const struct session *t, const char *server);
bool session_wants_op(const struct session *t, const char *op);

/* Adds @from to @to, as of one longer interval. */
void session_point_add(struct session_point *to, const struct session_point *from);

/* The phases with the largest sums, in that order; returns how many have one. */
size_t session_largest_phases(const uint64_t *phase_ns, enum rpc_phase *largest);

#endif
