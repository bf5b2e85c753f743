// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The calls' times by load: how long an answer takes with so many calls in flight on a transport.
 *
 * A server that serves more calls at once answers as fast with 16 in flight as with 4. One that serves a call at a time
 * takes four times as long. Only a load that varied shows which of the two it is, and judgement.c compares the two ends.
 *
 * The load of an interval is what its calls met as they ended, not the mean over the interval: an interval that is half
 * idle has half the mean, but its answers took as long as in a busy one. The mean over time is used only where calls
 * waited for slots in nine tenths of the interval: calls that end together find fewer and fewer others in flight, and
 * what they met is then too low.
 *
 * An interval counts for one kind of calls only if nine tenths of its calls are of that kind, because the number in flight
 * is known of all kinds together. */
#include "limits/interval.h"

enum call_kind call_kind_of(const char *op)
{
	if (!strncmp(op, "READ", 4) && (!op[4] || !strcmp(op + 4, "_PLUS")))
		return CALL_READ;
	return strcmp(op, "WRITE") ? CALL_OTHER : CALL_WRITE;
}

/* The mean number of calls in flight on a transport over time, by Little's law. 0: calls did not wait for slots in nine
 * tenths of the interval, and the mean over time says little about the calls. */
static double busy_in_flight(const struct server_sums *v, const struct interval *n)
{
	uint64_t rpc = n->saturated_ns[RPC_LIMIT_SLOT];
	uint64_t session = n->saturated_ns[RPC_LIMIT_SESSION];

	if ((rpc > session ? rpc : session) < n->ns / 10 * 9 || !v->transports)
		return 0;
	return (double)n->phase_ns[RPC_PHASE_RTT] / (double)n->ns / v->transports;
}

/* Each operation that neither reads nor writes takes its own time. CALL_OTHER therefore holds one operation: the one that
 * has taken most time so far. Returns whether it is the interval's operation. */
static bool is_main_op(struct server_sums *v, const struct interval *n)
{
	uint64_t rtt = n->kinds[CALL_OTHER].rtt_ns;

	if (strcmp(v->op, n->op) != 0) {
		if (rtt <= v->op_rtt_ns)
			return false;
		snprintf(v->op, sizeof(v->op), "%s", n->op);
		v->op_rtt_ns = 0;
		memset(v->loads[CALL_OTHER], 0, sizeof(v->loads[CALL_OTHER]));
	}
	v->op_rtt_ns += rtt;
	return true;
}

void loads_add(struct server_sums *v, const struct interval *n)
{
	const struct depth_histogram *pending = &n->server->depth[RPC_QUEUE_PENDING];
	uint64_t calls = depth_count(pending);
	double in_flight, busy = busy_in_flight(v, n);
	uint32_t load;

	if (!calls)
		return;
	in_flight = 1 + (double)pending->sum / (double)calls;
	RAISE(in_flight, busy);
	load = histogram_index((uint64_t)(in_flight * 16), 2, DEPTH_OVERFLOW);
	for (int k = 0; k < CALL_KINDS; k++) {
		struct load_sums *to = &v->loads[k][load];

		if (10 * n->kinds[k].calls < 9 * n->calls ||
		    (k == CALL_OTHER && n->op && !is_main_op(v, n)))
			continue;
		to->calls += n->kinds[k].calls;
		to->in_flight += in_flight * (double)n->kinds[k].calls;
		to->rtt_ns += n->kinds[k].rtt_ns;
		to->bytes += n->kinds[k].bytes;
	}
}
