/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connections of one server beside each other: how unequal their load is, and which
 * of them is slow or stuck.
 */
#ifndef XIDSCOPE_CONNECTIONS_H
#define XIDSCOPE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot/snapshot.h"

struct connection {
	const struct rpc_transport_state *transport; /* as it is now */
	uint64_t replies, rtt_ns; /* in this time */
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

/*
 * Judges the connections of @server that exist in @s, by what they did since @before;
 * NULL: @s itself is a difference. A few replies prove a connection slow only if it has less
 * than half of the median connection's: the client gives no call to a connection with more
 * calls in flight than the average. Without memory there are none.
 */
struct connections connections_of(const struct snapshot *before, const struct snapshot *s,
				  const char *server);

#endif
