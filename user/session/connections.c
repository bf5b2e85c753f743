// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares the connections of one server. */
#include "session/session.h"

#define STUCK_NS UINT64_C(5000000000)
#define SLOW_FACTOR 2

/* Fewer replies prove nothing, because one of them may be to a call that takes long on any connection ... */
#define ENOUGH_REPLIES 20
/* ... except that fewer suffice for a connection with less than half of the median connection's replies. */
#define FEW_REPLIES 5

COMPARE_BY(by_time, struct connection, mean_ns)

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
	if (c->mean_ns <= SLOW_FACTOR * median->mean_ns || c->transport->replies < FEW_REPLIES)
		return false;
	return c->transport->replies >= ENOUGH_REPLIES ||
	       c->transport->replies < median->transport->replies / 2;
}

struct connections connections_of(const struct delta *d, const char *server)
{
	const struct connection *median;
	struct connections c = {};
	uint64_t replies = 0;

	CALLS_EACH(t, &d->calls, transport, server) {
		if (!*t->remote.address)
			continue;
		*ARRAY_APPEND(c.list, c.count) =
			(struct connection){ .transport = t,
					     .mean_ns = t->replies ? t->rtt_ns / t->replies : 0,
					     .stuck = t->oldest_ns >= STUCK_NS };
		replies += t->replies;
	}
	median = find_median(&c);
	c.median_ns = median ? median->mean_ns : 0;
	for (size_t i = 0; median && i < c.count; i++) {
		c.list[i].share =
			replies ? (double)c.list[i].transport->replies / (double)replies : 0;
		c.list[i].slow = is_slow(&c.list[i], median);
	}
	return c;
}
