// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Waits for slots, RPC's and the session's: how many calls want a slot while all are taken.
 *
 * slots.c proposes more slots and says what they gain at most. For that it needs how many calls queue for each call that
 * holds a slot, at the worst time; the mean over a session would hide a burst. A queue's length counts if at least
 * SOME_CALLS joined it in the interval, or if it was never empty.
 *
 * Replies at equal distances while the queue is never empty show a server, or a link, that serves one call at a time: more
 * slots gain nothing. Equal means that the squared coefficient of variation is at most EVEN.
 *
 * When the server grants the session more slots, the waits so far say nothing about the new number: they begin anew. */
#include "limits/interval.h"

#define EVEN 0.05

/* Calls may wait for the slots of some transports only, because another mount of the server may have more. Notes the slots of
 * these transports; if no call waits, those of all. TCP's slots for NFSv4.1 limit nothing. */
void slots_note(struct server_sums *v, const struct rpc_transport_state *t, bool *waited)
{
	bool waits = t->saturated_ns[RPC_LIMIT_SLOT];

	if (!t->alive || !t->slots_max || t->slots_max >= RPC_SLOTS_UNLIMITED ||
	    (*waited && !waits))
		return;
	if (waits > *waited)
		v->slots_max = v->slot_transports = 0;
	*waited = waits;
	v->slot_transports++;
	RAISE(v->slots_max, t->slots_max);
}

static void add_queue(struct slot_queue *q, const struct depth_histogram *depth, uint32_t peak,
		      bool full)
{
	uint64_t joined = depth_count(depth);
	double mean = joined ? (double)depth->sum / (double)joined : 0;

	q->joined += joined;
	q->depth += depth->sum;
	RAISE(q->peak, peak);
	q->full |= full;
	if ((joined >= SOME_CALLS || full) && q->most < mean)
		q->most = mean;
}

/* @full: calls waited for slots all the time. */
static void add_gaps(struct slot_waits *w, const struct rpc_gaps *g, bool full)
{
	double sum = (double)g->sum;

	w->gaps += g->count;
	if (!full || g->count < SOME_CALLS ||
	    (double)g->count * (double)g->squares > (1 + EVEN) * sum * sum)
		return;
	w->even += g->count;
	w->even_sum += g->sum;
}

void slot_waits_add(struct server_sums *v, const struct interval *n)
{
	static const enum rpc_limit limits[] = { RPC_LIMIT_SLOT, RPC_LIMIT_SESSION };
	uint64_t queued = n->phase_ns[RPC_PHASE_SLOT] + n->phase_ns[RPC_PHASE_SESSION];
	const uint64_t *waited = n->saturated_ns, full = n->ns - n->ns / 20;

	if (n->grown) {
		v->outgrown_ns = v->phase_ns[RPC_PHASE_SESSION];
		v->waits = (struct slot_waits){};
		return;
	}
	ARRAY_EACH(l, limits, COUNT(limits))
		add_queue(&v->waits.queue[*l], &n->server->depth[*l], n->server->now->depth_max[*l],
			  waited[*l] >= full);
	add_gaps(&v->waits, &n->server->gaps,
		 waited[RPC_LIMIT_SLOT] >= full || waited[RPC_LIMIT_SESSION] >= full);
	if (queued * 10 < n->total_ns || queued >= n->total_ns)
		return;
	v->waits.total_ns += n->total_ns;
	v->waits.hold_ns += n->total_ns - queued;
}
