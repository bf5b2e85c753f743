// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report's part on connections. */
#include "sinks/report.h"

#include "base/safe_text.h"

#define BAD_CONNECTIONS 4 /* that are named */

/* "- Slow connection to nas: tcp/3, 10.0.0.2:801 to 10.0.0.1:2049: 2.1 ms to a reply, on the median connection ..." */
static void write_connection(FILE *out, const char *server, const struct connections *all,
			     const struct connection *c)
{
	const struct rpc_transport_state *t = c->transport;
	const char *local = ENDPOINT(&t->local);
	char share[48] = "", how[96];

	if (all->count > 1 && c->share >= 0.0005)
		snprintf(share, sizeof(share), "; %.1f %% of the server's calls", c->share * 100);
	if (c->stuck && !t->slots_in_flight)
		snprintf(how, sizeof(how), "calls unanswered, the oldest for %s",
			 DURATION(t->oldest_ns));
	else if (c->stuck)
		snprintf(how, sizeof(how), "%" PRIu32 " call%s unanswered, the oldest for %s",
			 t->slots_in_flight, t->slots_in_flight == 1 ? "" : "s",
			 DURATION(t->oldest_ns));
	else
		snprintf(how, sizeof(how), "%s to a reply, on the median connection %s",
			 DURATION(c->mean_ns), DURATION(all->median_ns));
	safe_line(out, "- %s connection to %s: %s, %s to %s: %s%s.", c->stuck ? "Stuck" : "Slow",
		  server, t->name, *local ? local : "not connected", ENDPOINT(&t->remote), how,
		  share);
}

void report_connections(FILE *out, const struct delta *d, const char *server)
{
	struct connections all = connections_of(d, server);
	size_t bad = 0;
	double least = 1, most = 0;

	for (size_t i = 0; i < all.count; i++) {
		LOWER(least, all.list[i].share);
		RAISE(most, all.list[i].share);
	}
	if (all.count > 1 && most > 0)
		safe_line(out,
			  "- %s has %zu connections: each had %.1f %% to %.1f %% of its calls, "
			  "where equal parts are %.1f %%.",
			  server, all.count, least * 100, most * 100, 100 / (double)all.count);
	for (size_t i = all.count; i-- > 0;)
		if ((all.list[i].slow || all.list[i].stuck) && bad++ < BAD_CONNECTIONS)
			write_connection(out, server, &all, &all.list[i]);
	if (bad > BAD_CONNECTIONS)
		fprintf(out, "- %zu more of its %zu connections are slow or stuck.\n",
			bad - BAD_CONNECTIONS, all.count);
	free(all.list);
}
