/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sums over intervals from which the verdict on a server is made, and the calls' times by how many calls were in
 * flight. */
#pragma once

#include "limits/verdict.h"

/* Calls whose times may be compared with each other. */
enum call_kind { CALL_READ, CALL_WRITE, CALL_OTHER, CALL_KINDS };

/* Calls of one kind, in intervals with about as many calls in flight. */
struct load_sums {
	uint64_t calls;
	double in_flight; /* per transport as a call ends, added up over the calls */
	uint64_t rtt_ns;
	uint64_t bytes;
};

/* In flight from a quarter of a call to 2^18, in steps as those of depths. */
#define LOADS DEPTH_BUCKETS

/* A queue for slots, RPC's or the session's. Whoever joins it finds so many in it, with itself. */
struct slot_queue {
	uint64_t joined, depth; /* how many joined it, and what these found, added up */
	double most; /* in an interval that many joined, or that was full: the largest mean; 0: there was none */
	uint32_t peak;
	bool full; /* in some interval: it was never empty */
};

/* Waits for slots since the server last granted more of the session's. */
struct slot_waits {
	/* Of the intervals in which calls waited: all the calls' time, and that without these waits. */
	uint64_t total_ns, hold_ns;
	struct slot_queue queue[RPC_LIMITS]; /* RPC_LIMIT_SLOT and RPC_LIMIT_SESSION */
	/* As in struct rpc_gaps: how many; of them, those in intervals in which they are equal, and their sum. */
	uint64_t gaps, even, even_sum;
};

/* TCP sends a segment again after this time or more, if nothing came after it (TCP_RTO_MIN). */
#define LATE_NS UINT64_C(200000000)

/* Slots of a transport of which there is no limit: RPC_MAX_SLOT_TABLE_LIMIT. */
#define RPC_SLOTS_UNLIMITED 65536

/* So long without an answer, and a call to wait for it: the server hangs. */
#define HUNG_NS UINT64_C(5000000000)

/* Of the intervals in which calls ended or waited. */
struct active_time {
	uint64_t ns;
	uint64_t cpu_waiting_ns; /* in which a task waited for a CPU */
	uint64_t saturated_ns[RPC_LIMITS]; /* of the worst transport in each interval */
};

/* Operations that above.c judges. */
enum above_op {
	ABOVE_READ,
	ABOVE_WRITE,
	ABOVE_COMMIT,
	ABOVE_LOOKUP,
	ABOVE_ATTRIBUTES, /* GETATTR, ACCESS */
	ABOVE_OPEN,
	ABOVE_DELEGRETURN,
	ABOVE_NAMES, /* other metadata: CLOSE, CREATE, ... */
	ABOVE_OTHER,
	ABOVE_OPS,
};

struct above_sums {
	struct op_sums {
		uint64_t calls, ns, bytes;
		uint64_t delayed; /* answered NFS4ERR_DELAY */
	} ops[ABOVE_OPS];
	uint64_t held_up_ns; /* of the intervals with dirty pages at their limit at the end */
	uint64_t dirty_limit_bytes; /* at the end; 0: unknown */
	/* Tasks that waited for files' locks at the ends of intervals, times these; the last mount with some. */
	uint64_t lock_wait_ns;
	char locked[LABEL_SIZE];
	/* With most of the time of these calls, as it was in the last interval that had half of the time that one had, or more: the
	 * rest of a load says little; no mount point: unknown. */
	struct nfs_mount mount[RPC_KINDS];
	uint64_t most_ns[RPC_KINDS]; /* in an interval */
};

struct server_sums {
	char server[LABEL_SIZE];
	char protocol[RPC_PROTO_LEN]; /* of its transports */
	uint64_t ns; /* of all intervals */
	uint64_t quiet_ns; /* of the last ones, in which nothing happened */
	struct active_time active, silent; /* silent: its part in silent_ns */
	uint64_t silent_ns; /* of the last ones, in which a call waited and none was answered */
	double silent_since; /* since the epoch */
	/* The last time in which none was answered for HUNG_NS or more. It, and the two intervals after it, are left out of all
	 * that is judged. */
	struct {
		uint64_t ns; /* 0: there was none */
		double begin, end; /* since the epoch; end 0: it lasts */
		unsigned int intervals_left; /* intervals that are still to be left out */
		bool reconnected, restarted; /* the client has made itself known anew (NFSv4) */
		char moved_to
			[RPC_ADDRESS_LEN]; /* all connections lead there since then, and none did before; "" */
	} stall;
	char address[RPC_ADDRESS_LEN]; /* of a connection before that; "": not known */
	uint64_t calls_ended; /* those left out are among them */
	uint64_t late_calls; /* that took LATE_NS or more */
	uint64_t calls, total_ns, phase_ns[RPC_PHASES], credentials_ns;
	uint64_t earlier_ns; /* in none of these: waits of calls before the observation began */
	struct slot_waits waits;
	uint64_t outgrown_ns; /* of phase_ns: waits for fewer session slots than there are now */
	uint64_t depth_calls; /* calls whose end shows how many were in flight ... */
	uint64_t depth; /* ... per transport, added up, without that call itself */
	uint32_t most_in_flight; /* on a transport, as a call ended */
	uint64_t segments, segments_lost; /* TCP's */
	double received_bytes; /* by TCP */
	/* The time until replies, and summed up over it: times of a round trip, shares of the window, see add_paths(). */
	double path_ns, carrying, window_filled, min_rtt_ns, srtt_ns, rcv_wnd;
	unsigned int looks; /* at connections that had received; limit_sums_next() keeps some */
	uint64_t retransmits, timeouts, disconnects, connects;
	uint64_t oldest_ns; /* at the end */
	uint64_t unknown; /* facts, in any interval */
	bool kerberos; /* of any of its mounts, at the end */
	uint32_t session_slots, transports, slots_wanted[SLOT_SETTINGS]; /* at the end */
	/* Of the transports whose slots limit calls, at the end; none: RPC_SLOTS_UNLIMITED, and all of them. */
	uint32_t slots_max, slot_transports;
	struct load_sums loads[CALL_KINDS][LOADS]; /* CALL_OTHER: of one operation */
	char op[RPC_OP_LEN]; /* that one */
	uint64_t op_rtt_ns;
	struct above_sums above;
};

enum call_kind call_kind_of(const char *op);

/* Adds the server's calls in an interval. */
void above_add(struct above_sums *a, const struct delta *d, const char *server);

/* The same as limit_sums_add(), of one server. */
int limit_sums_add_server(struct limit_sums *h, const struct delta *d,
			  const struct server_delta *server);

/* The sums of @server, or NULL. */
const struct server_sums *server_sums_of(const struct limit_sums *h, const char *server);
