/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session of `xidscope trace`: all that its sinks show, from its snapshots alone. So a recording of the snapshots
 * gives the same again. */
#pragma once

#include "limits/episodes.h"
#include "snapshot/delta.h"

/* Shell patterns: fnmatch(3). NULL: all. */
struct session_filter {
	const char *server;
	const char *mount; /* a mount point: its server, with the calls of that mount */
	double slower; /* slow calls take at least so long, seconds; 0: an observer keeps none */
};

/* Intervals that are kept: if there are more, each two become one. */
#define SESSION_INTERVALS 600
#define SESSION_SLOW_CALLS 100 /* the slowest calls that are kept */
#define SESSION_SLOW_SHOWN 10 /* and those in the report */
#define SESSION_EVENTS 1000 /* the first events that are kept */

/* A call that waits for so long is reported. */
#define SESSION_OLD_NS UINT64_C(5000000000)

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
	SESSION_SOURCE, /* of NFS calls: another one, whose counts begin at 0 */
	SESSION_EVENT_KINDS,
};

extern const char *const session_event_names[SESSION_EVENT_KINDS];

struct session_event {
	enum session_event_kind kind;
	double time; /* seconds since the epoch */
	char name[LABEL_SIZE]; /* server, device, or source */
	char what[40]; /* of a kernel event its kind; of a fault its severity */
	unsigned int code; /* of a fault */
	bool nvswitch; /* a fault: it is an SXid */
	uint64_t count;
};

struct session_server {
	char name[LABEL_SIZE];
	uint64_t hung_ns; /* so long without an answer; 0: it answers */
	struct session_point sums; /* of all intervals */
};

/* Where a session was, and of which program. Any bytes, if a recording has them. */
struct session_origin {
	char host[65], kernel[65];
	char version[24]; /* the program's */
	int utc_offset; /* of the host's local time: seconds east */
};

struct session {
	struct session_origin origin;
	struct known_fault
		*faults; /* at the end, also those from before; the gravest that are open first */
	size_t fault_count;
	struct session_filter filter;
	bool keep_intervals; /* for those who show them; set it before the first snapshot */
	struct snapshot first, last;
	struct delta interval; /* the latest, which ends with the last snapshot */
	struct delta total; /* of all of the session, from session_end() on */

	struct session_server *servers;
	size_t server_count;
	struct session_interval latest;
	struct session_interval *intervals;
	size_t interval_count;
	size_t merged; /* snapshots' intervals in each of them */
	size_t pending; /* ... in the last of them */

	struct session_event *events;
	size_t event_count;
	uint64_t source_number; /* at the last snapshot */
	uint64_t events_left_out;
	struct slow_call *slow; /* the slowest first */
	size_t slow_count;
	uint64_t slow_calls; /* in all */
	struct limit_sums limits; /* of all intervals */
	struct episodes episodes;
};

/* Takes the next snapshot over; *@s is empty then. The second and each later one end an interval:
 * .interval, .latest. Returns 0 or -ENOMEM: then a part is not added. */
int session_add(struct session *t, struct snapshot *s);

/* After the last snapshot: makes .total, sorts the events by time, and ends the episodes. Returns 0 or -ENOMEM. */
int session_end(struct session *t);

/* Initialise with {}, and set .filter and .keep_intervals. */
void session_free(struct session *t);

/* How many of the open faults were known before the session. */
size_t session_open_before(const struct session *t);

/* From the first to the last snapshot. */
double session_seconds(const struct session *t);

/* The wall time of a moment within the session, CLOCK_MONOTONIC: seconds since the epoch. */
double session_wall(const struct session *t, uint64_t monotonic_ns);

/* Whether the filter lets it through. */
bool session_wants_server(const struct session *t, const char *server);
bool session_wants_mount(const struct session *t, const char *mountpoint);

/* Of the limit that was saturated longest. */
uint64_t session_most_saturated(const struct session_point *p);

/* The phases with the largest sums, in that order; returns how many have one. */
size_t session_largest_phases(const uint64_t *phase_ns, enum rpc_phase *largest);

/* ---- connections.c: those of one server beside each other ---- */

struct connection {
	const struct transport_delta *transport;
	double share; /* of the server's replies, 0 to 1 */
	uint64_t mean_ns; /* from transmit to reply; 0: without replies */
	bool slow; /* that is more than twice as long as on the median connection */
	bool stuck; /* a call is unanswered since 5 s or more */
};

struct connections {
	struct connection *list; /* free with free() */
	size_t count;
	uint64_t median_ns; /* of their mean_ns; 0: none had replies */
};

/* Judges the connections of @server that exist at the end, by what they did in this time. A few replies prove a
 * connection slow only if it has less than half of the median connection's: the client gives no call to a connection
 * with more calls in flight than the average. Without memory there are none. */
struct connections connections_of(const struct delta *d, const char *server);
