// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The connections of one server beside each other. */
#include "session/connections.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STUCK_NS UINT64_C(5000000000)
#define SLOW_FACTOR 2

/* Fewer replies prove nothing: one of them may be to a call that takes long anywhere ... */
#define ENOUGH_REPLIES 20
/* ... unless the connection has less than half of the others' calls. */
#define FEW_REPLIES 5

/* What it did since @before. */
static struct connection connection_of(const struct snapshot *before,
				       const struct rpc_transport_state *t)
{
	static const struct rpc_transport_state none;
	const struct rpc_transport_state *then =
		(before ? snapshot_transport_like(&before->calls, t, 0) : NULL) ?: &none;
	struct connection c = { .transport = t, .stuck = t->oldest_ns >= STUCK_NS };

	c.replies = counted_since(t->replies, then->replies);
	c.rtt_ns = counted_since(t->rtt_ns, then->rtt_ns);
	c.mean_ns = c.replies ? c.rtt_ns / c.replies : 0;
	return c;
}

static int by_time(const void *a, const void *b)
{
	const struct connection *x = a, *y = b;

	return (x->mean_ns > y->mean_ns) - (x->mean_ns < y->mean_ns);
}

/* Sorts the connections by time. Returns the lower median of those with replies, or NULL. */
static const struct connection *find_median(struct connections *c)
{
	size_t idle = 0;

	if (!c->count)
		return NULL;
	qsort(c->list, c->count, sizeof(*c->list), by_time);
	while (idle < c->count && !c->list[idle].mean_ns)
		idle++;
	return idle < c->count ? &c->list[idle + (c->count - idle - 1) / 2] : NULL;
}

static bool is_slow(const struct connection *c, const struct connection *median)
{
	if (c->mean_ns <= SLOW_FACTOR * median->mean_ns || c->replies < FEW_REPLIES)
		return false;
	return c->replies >= ENOUGH_REPLIES || c->replies < median->replies / 2;
}

struct connections connections_of(const struct snapshot *before, const struct snapshot *s,
				  const char *server)
{
	const struct connection *median;
	struct connections c = {};
	struct connection *added;
	uint64_t replies = 0;

	for (size_t i = 0; i < s->calls.transport_count; i++) {
		if (strcmp(s->calls.transports[i].server, server) != 0 ||
		    !*s->calls.transports[i].remote.address)
			continue;
		added = ARRAY_APPEND(c.list, c.count);
		if (!added)
			break;
		*added = connection_of(before, &s->calls.transports[i]);
		replies += added->replies;
	}
	median = find_median(&c);
	c.median_ns = median ? median->mean_ns : 0;
	for (size_t i = 0; median && i < c.count; i++) {
		c.list[i].share = replies ? (double)c.list[i].replies / (double)replies : 0;
		c.list[i].slow = is_slow(&c.list[i], median);
	}
	return c;
}
