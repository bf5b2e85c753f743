// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The paths to a server: round trips of its TCP connections, and how much of the receive window they fill.
 *
 * network.c asks two questions. Is the window full? A connection that fills it carries one window in each round trip, and
 * the share summed up here is then 1. Is a link at its rate? Then data are on the way at most looks at the connection,
 * and wait in queues: the round trip is much longer than the shortest one.
 *
 * The kernel's figures are values at a moment, one look for each connection and interval. Each look is weighted by the
 * time that calls spent waiting for the replies of that connection: a connection that carries nothing says nothing. A
 * source that does not count replies by connection gives each connection as large a part of them as of the bytes.
 *
 * Example: 1 MB window, 10 ms shortest round trip, 950 MB received in 10 s. 950 MB * 10 ms / 10 s / 1 MB = 0.95: full. */
#include "limits/interval.h"

/* A connection's data are acknowledged with the next reply, or after a pause of at most 100 ms. If a round trip is longer
 * by more than this pause, and by the time of three replies, the data wait in a queue on the way. */
#define LONG_QUEUE_NS UINT64_C(100000000)
#define QUEUED_REPLIES 3

/* Whether the connection carries data at this look. It also does if several replies queue on the way. */
static bool carries_data(const struct transport_delta *t, double replies, uint64_t ns)
{
	const struct rpc_transport_state *now = t->now;
	uint64_t queue = now->srtt_ns - now->min_rtt_ns;

	if (now->carries)
		return true;
	return now->srtt_ns > 2 * now->min_rtt_ns && queue >= LONG_QUEUE_NS &&
	       (double)queue * replies >= (double)(QUEUED_REPLIES * ns);
}

void paths_add(struct server_sums *v, const struct interval *n)
{
	const struct delta *d = n->d;
	bool known = snapshot_knows(&d->end->calls, RPC_FACT_REPLIES);

	ARRAY_EACH(t, d->transports, d->transport_count) {
		const struct rpc_transport_state *now = t->now;
		double bytes = (double)t->received_bytes, part = bytes / (double)n->received_bytes;
		double ns = known ? (double)t->rtt_ns : part * (double)n->phase_ns[RPC_PHASE_RTT];
		double replies = known ? (double)t->replies : part * (double)n->calls;

		if (strcmp(now->server, n->name) != 0 || !t->received_bytes || ns <= 0 ||
		    !now->rcv_wnd || !now->min_rtt_ns || !now->srtt_ns || !n->ns)
			continue;
		v->looks++;
		v->received_bytes += bytes;
		v->path_ns += ns;
		v->carrying += ns * carries_data(t, replies, n->ns);
		v->window_filled +=
			ns * (bytes * (double)now->min_rtt_ns / (double)n->ns / now->rcv_wnd);
		v->min_rtt_ns += ns * (double)now->min_rtt_ns;
		v->srtt_ns += ns * (double)now->srtt_ns;
		v->rcv_wnd += ns * now->rcv_wnd;
	}
}
