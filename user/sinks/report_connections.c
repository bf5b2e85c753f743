// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report's part on connections. */
#include "sinks/report.h"

#include "base/safe_text.h"

/* "Slow connection to nas: tcp/3, 10.0.0.2:801 to 10.0.0.1:2049", "2.1 ms to a reply, on the median connection ..." */
static void describe_connection(struct bad_connection *to, const char *server,
				const struct connections *all, const struct connection *c)
{
	const struct rpc_transport_state *t = c->transport;
	const char *local = ENDPOINT(&t->local);
	char share[48] = "";

	safe_format(to->which, sizeof(to->which), "%s connection to %s: %s, %s to %s",
		    c->stuck ? "Stuck" : "Slow", server, t->name, *local ? local : "not connected",
		    ENDPOINT(&t->remote));
	if (all->count > 1 && c->share >= 0.0005)
		snprintf(share, sizeof(share), "; %.1f %% of the server's calls", c->share * 100);
	to->seconds = c->stuck ? (double)t->oldest_ns / 1e9 : 0;
	if (c->stuck)
		snprintf(to->how, sizeof(to->how),
			 "%" PRIu32 " call%s unanswered, the oldest for %s%s", t->slots_in_flight,
			 t->slots_in_flight == 1 ? "" : "s", DURATION(t->oldest_ns), share);
	else
		snprintf(to->how, sizeof(to->how), "%s to a reply, on the median connection %s%s",
			 DURATION(c->mean_ns), DURATION(all->median_ns), share);
}

static size_t find_bad(struct bad_connection *list, const struct connections *all,
		       const char *server)
{
	size_t bad = 0;

	for (size_t i = all->count; i-- > 0;)
		if ((all->list[i].slow || all->list[i].stuck) && bad++ < BAD_CONNECTIONS)
			describe_connection(&list[bad - 1], server, all, &all->list[i]);
	return bad;
}

size_t report_bad_connections(struct bad_connection *list, const struct delta *d,
			      const char *server)
{
	struct connections all = connections_of(d, server);
	size_t bad = find_bad(list, &all, server);

	free(all.list);
	return bad;
}

void report_connections(FILE *out, const struct delta *d, const char *server)
{
	struct connections all = connections_of(d, server);
	struct bad_connection bad[BAD_CONNECTIONS];
	size_t count = find_bad(bad, &all, server);
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
	for (size_t i = 0; i < count && i < BAD_CONNECTIONS; i++)
		fprintf(out, "- %s: %s.\n", bad[i].which, bad[i].how);
	if (count > BAD_CONNECTIONS)
		fprintf(out, "- %zu more of its %zu connections are slow or stuck.\n",
			count - BAD_CONNECTIONS, all.count);
	free(all.list);
}
