// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The network: round trips of a server's TCP connections, how much of the receive window they fill, and whether that, not
 * the server, delays replies.
 *
 * There are two questions. Is the window full? A connection that fills it carries one window in each round trip, and
 * the share summed up here is then 1. Is a link at its rate? Then data are on the way at most looks at the connection,
 * and wait in queues: the round trip is much longer than the shortest one.
 *
 * The kernel's figures are values at a moment, one look for each connection and interval. Each look is weighted by the
 * time that calls spent waiting for the replies of that connection: a connection that carries nothing says nothing. A
 * source that does not count replies by connection gives each connection as large a part of them as of the bytes.
 *
 * Example: 1 MB window, 10 ms shortest round trip, 950 MB received in 10 s. 950 MB * 10 ms / 10 s / 1 MB = 0.95: full. */
#include "limits/judgement.h"

/* A connection's data are acknowledged with the next reply, or after a pause of at most 100 ms. If a round trip is longer
 * by more than this pause, and by the time of three replies, the data wait in a queue on the way. */
#define LONG_QUEUE_NS UINT64_C(100000000)
#define QUEUED_REPLIES 3

/* The receive window is full if this share of it arrives in each round trip. If the limit is elsewhere, the kernel lets the
 * window grow to twice of what arrives in a round trip (tcp_rcv_space_adjust()). */
#define WINDOW_FULL 0.8
/* A link is at its rate if its connections carry data at this share of the looks, of which there are enough ... */
#define CARRYING 0.6
#define ENOUGH_LOOKS 3
/* ... and queue on the way: a round trip takes twice the shortest and this much more. */
#define QUEUE_NS 2e6
/* A longer way looks like a queue, but less arrives: before, it was this many times as much. */
#define CLEAR_RATE 1.5

#define RMEM_MAX (64u << 20)

/* Whether the connection carries data at this look. It also does if several replies queue on the way. */
static bool carries_data(const struct rpc_transport_state *t, double replies, uint64_t ns)
{
	uint64_t queue = t->srtt_ns - t->min_rtt_ns;

	return t->carries || (t->srtt_ns > 2 * t->min_rtt_ns && queue >= LONG_QUEUE_NS &&
			      (double)queue * replies >= (double)(QUEUED_REPLIES * ns));
}

/* Whether a round trip of @srtt_ns, both sums being weighted by @path_ns, takes so long because of queues. */
static bool is_queued(double srtt_ns, double min_rtt_ns, double path_ns)
{
	return path_ns > 0 && srtt_ns >= 2 * min_rtt_ns + QUEUE_NS * path_ns;
}

/* @old: the sums before the interval. */
static void note_rate(struct server_sums *v, const struct server_sums *old, uint64_t ns)
{
	double bytes = v->received_bytes - old->received_bytes;

	if (is_queued(v->srtt_ns - old->srtt_ns, v->min_rtt_ns - old->min_rtt_ns,
		      v->path_ns - old->path_ns)) {
		v->queued_ns += (double)ns;
		v->queued_bytes += bytes;
	} else {
		RAISE(v->clear_rate, bytes * 1e9 / (double)ns);
	}
}

void paths_add(struct server_sums *v, const struct interval *n)
{
	const struct delta *d = n->d;
	const struct server_sums old = *v;
	bool known = snapshot_knows(&d->end->calls, RPC_FACT_REPLIES);

	CALLS_EACH(t, &d->calls, transport, n->name) {
		double bytes = (double)t->received_bytes, part = bytes / (double)n->received_bytes;
		double ns = known ? (double)t->rtt_ns : part * (double)n->phase_ns[RPC_PHASE_RTT];
		double replies = known ? (double)t->replies : part * (double)n->calls;

		if (!t->received_bytes || ns <= 0 || !t->rcv_wnd || !t->min_rtt_ns || !t->srtt_ns ||
		    !n->ns)
			continue;
		v->looks++;
		v->received_bytes += bytes;
		v->path_ns += ns;
		v->carrying += ns * carries_data(t, replies, n->ns);
		v->window_filled +=
			ns * (bytes * (double)t->min_rtt_ns / (double)n->ns / t->rcv_wnd);
		v->min_rtt_ns += ns * (double)t->min_rtt_ns;
		v->srtt_ns += ns * (double)t->srtt_ns;
		v->rcv_wnd += ns * t->rcv_wnd;
	}
	if (n->ns)
		note_rate(v, &old, n->ns);
}

bool queues_on_the_way(const struct server_sums *v)
{
	return is_queued(v->srtt_ns, v->min_rtt_ns, v->path_ns);
}

/* The number of looks does not matter here. */
static bool fills_link(const struct server_sums *v)
{
	return v->carrying >= CARRYING * v->path_ns && queues_on_the_way(v);
}

bool may_fill_link(const struct server_sums *v)
{
	return fills_link(v) && v->looks < ENOUGH_LOOKS;
}

/* Whether less arrived with the queue than before it. */
static bool carried_more(const struct server_sums *v)
{
	return v->clear_rate * v->queued_ns > CLEAR_RATE * v->queued_bytes * 1e9;
}

void limit_sums_next(struct limit_sums *h)
{
	size_t kept = 0;

	ARRAY_EACH(v, h->servers, h->count) {
		struct server_sums next = {
			.looks = fills_link(v) ? v->looks : 0,
			.unheard_ns = v->oldest_ns ? v->unheard_ns : 0,
			.served_ns = v->served_ns,
			.clear_rate = v->queued_ns > 0 ?
					      v->clear_rate :
					      ratio(v->received_bytes * 1e9, (double)v->ns),
			.above = { .opens_wait = v->above.opens_wait,
				   .since_delay_ns = v->above.since_delay_ns }
		};

		if (v->silent_ns || is_in_grace(v)) {
			next.clock = v->clock;
			next.silent_ns = v->silent_ns;
			next.silent_since = v->silent_since;
			next.silent_connects = v->silent_connects;
			next.lost = v->lost;
			next.stall = v->stall;
			memcpy(next.victims, v->victims, sizeof(v->victims));
		}
		memcpy(next.address, v->address, sizeof(v->address));
		/* A server of ns 0 is gone. */
		if (!v->ns || (!(next.clock > 0) && !v->above.opens_wait && !next.looks &&
			       !next.unheard_ns && !*v->address && !(next.clear_rate > 0)))
			continue;
		memcpy(next.server, v->server, sizeof(next.server));
		h->servers[kept++] = next;
	}
	h->count = kept;
	h->ns = 0;
}

/* Proposes the window that the calls want at the moment when most are in flight. The kernel's buffer has twice its size. */
static void set_window(struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;
	double most = j->v->depth_calls ? j->v->most_in_flight : n->concurrency;
	double all = most * ratio(j->v->received_bytes, (double)n->calls);
	double wanted = 2 * all;
	uint32_t value = 65536;

	j->to->gain_at_most = larger(ratio(n->hold_ns, n->min_rtt_ns),
				     ratio(all, n->window_share * n->window_bytes));
	while (value < wanted && value < RMEM_MAX)
		value *= 2;
	if (value > 2 * n->window_bytes && j->to->gain_at_most >= WORTH_IT)
		j->to->remount = propose(j, "net.ipv4.tcp_rmem[2]", value, "");
}

bool judge_network(struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;
	double min_ms = n->min_rtt_ns / 1e6;

	if (n->window_share >= WINDOW_FULL) {
		decide(j->to, BOUND_NETWORK, CONFIDENCE_MEDIUM,
		       "TCP's receive window lets a connection have %.0f KiB under way, and a round trip takes "
		       "%.*g ms: %.*g MB/s at most. A larger window or more connections (nconnect) carry "
		       "more.",
		       n->window_bytes / 1024, FIGURE(min_ms),
		       FIGURE(ratio(n->window_bytes * 1e3, n->min_rtt_ns)));
		set_window(j);
	} else if (fills_link(j->v) && !may_fill_link(j->v) && carried_more(j->v)) {
		decide(j->to, BOUND_NETWORK, CONFIDENCE_LOW,
		       "A round trip takes %.*g ms, it took %.*g ms before, and less arrives than then: the "
		       "path became longer, or a link on it slower.",
		       FIGURE(n->srtt_ns / 1e6), FIGURE(min_ms));
	} else if (fills_link(j->v) && !may_fill_link(j->v)) {
		decide(j->to, BOUND_NETWORK, CONFIDENCE_MEDIUM,
		       "Data flow without a pause and wait in queues: a round trip takes %.*g ms, %.*g ms "
		       "without queues. A faster path helps, a faster server does not.",
		       FIGURE(n->srtt_ns / 1e6), FIGURE(min_ms));
	} else {
		return false;
	}
	return true;
}
