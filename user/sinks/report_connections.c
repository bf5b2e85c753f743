// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report's part on connections. */
#include "sinks/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/safe_text.h"

/* Of each server at once: more say no more. */
#define MAX_LINES 4

/* "Slow connection to nas: tcp/3, 10.0.0.2:801 to 10.0.0.1:2049: about ..." */
static void report_one(FILE *out, const char *indent, const char *server,
		       const struct connections *all, const struct connection *c)
{
	const struct rpc_transport_state *t = c->transport->now;
	char local[ENDPOINT_SIZE], remote[ENDPOINT_SIZE], time[DURATION_SIZE],
		median[DURATION_SIZE], what[128];

	if (c->stuck) {
		format_duration(time, t->oldest_ns);
		snprintf(what, sizeof(what), "%" PRIu32 " calls unanswered, the oldest for %s",
			 t->slots_in_flight, time);
	} else {
		format_duration(time, c->mean_ns);
		format_duration(median, all->median_ns);
		snprintf(what, sizeof(what), "%s to a reply, on the median connection %s", time,
			 median);
	}
	endpoint_text(local, &t->local);
	safe_line(out, "%s%s connection to %s: %s, %s to %s: %s; %.1f %% of the server's calls.",
		  indent, c->stuck ? "Stuck" : "Slow", server, t->name,
		  *local ? local : "not connected", endpoint_text(remote, &t->remote), what,
		  c->share * 100);
}

/* A line for each that is slow or stuck, the slowest first. */
static void report_bad(FILE *out, const struct connections *all, const char *indent,
		       const char *server)
{
	size_t bad = 0;

	for (size_t i = all->count; i-- > 0;) {
		const struct connection *c = &all->list[i];

		if ((!c->slow && !c->stuck) || bad++ >= MAX_LINES)
			continue;
		report_one(out, indent, server, all, c);
	}
	if (bad > MAX_LINES)
		fprintf(out, "%sSlow or stuck, too: %zu more of its %zu connections.\n", indent,
			bad - MAX_LINES, all->count);
}

void report_connections_interval(FILE *out, const struct delta *d)
{
	for (size_t i = 0; i < d->server_count; i++) {
		const char *server = d->servers[i].now->server;
		struct connections all = connections_of(d, server);

		report_bad(out, &all, "          ", server);
		free(all.list);
	}
}

void report_connections(FILE *out, const struct delta *d, const char *server)
{
	struct connections all = connections_of(d, server);
	double least = 1, most = 0;

	for (size_t i = 0; i < all.count; i++) {
		if (all.list[i].share < least)
			least = all.list[i].share;
		if (all.list[i].share > most)
			most = all.list[i].share;
	}
	if (all.count > 1 && most > 0)
		safe_line(out,
			  "- %s has %zu connections: each had %.1f %% to %.1f %% of its calls, "
			  "where equal parts are %.1f %%.",
			  server, all.count, least * 100, most * 100, 100 / (double)all.count);
	report_bad(out, &all, "- ", server);
	free(all.list);
}
