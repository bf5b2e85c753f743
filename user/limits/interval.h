/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One server in one interval, while it is added to the server's sums. sums.c adds it; each subject with a theory of its
 * own has a file: loads.c, paths.c, silence.c, slot_waits.c. Only these five files include this header. */
#pragma once

#include "limits/sums.h"

/* So many values make a mean that can be trusted. */
#define SOME_CALLS 20

struct interval {
	const struct delta *d;
	const struct server_delta *server;
	const char *name;
	uint64_t ns;
	uint64_t received_bytes; /* by TCP */
	uint64_t calls, replies, timeouts, connects;
	uint64_t clients; /* calls by which a client makes itself known */
	uint64_t late; /* calls that took LATE_NS or more */
	uint64_t longest_ns; /* the longest call took at least so long; 0: not known */
	uint64_t total_ns, phase_ns[RPC_PHASES];
	uint64_t saturated_ns[RPC_LIMITS]; /* of the worst transport */
	struct load_sums kinds[CALL_KINDS]; /* CALL_OTHER: only the operation with most calls */
	const char *op; /* the operation in CALL_OTHER; NULL: there is none */
	bool grown; /* the server has granted the session more slots */
};

/* The number of values in @h. */
uint64_t depth_count(const struct depth_histogram *h);

/* loads.c: adds each kind of calls at the load of this interval. */
void loads_add(struct server_sums *v, const struct interval *n);

/* paths.c: adds the round trips and windows of the server's connections. */
void paths_add(struct server_sums *v, const struct interval *n);

/* silence.c: updates the time without an answer and the last stall. Returns whether the interval belongs to a stall, or
 * is one of the two after it: then nothing else of it is added. */
bool stall_covers(struct server_sums *v, struct interval *n);

/* slot_waits.c: notes the slots of transport @t. *@waited says whether calls waited for those noted so far; it begins as
 * false. */
void slots_note(struct server_sums *v, const struct rpc_transport_state *t, bool *waited);

/* slot_waits.c: adds the waits for slots. */
void slot_waits_add(struct server_sums *v, const struct interval *n);

/* sums.c: adds @from to the active time @to; with -1 as @sign it is taken away. */
void active_time_add(struct active_time *to, const struct active_time *from, uint64_t sign);
