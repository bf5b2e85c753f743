// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Servers that have not answered since before the source could see their calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "rpc/polled/polled.h"

struct unanswered_server {
	char server[LABEL_SIZE];
	uint64_t calls; /* that had ended */
	/* The first snapshot since then with calls in flight of which the source knows none; CLOCK_MONOTONIC, 0: none. */
	uint64_t seen_ns;
	bool sure; /* another snapshot has shown the same */
};

static struct unanswered_server *get(struct unanswered *u, const char *server)
{
	struct unanswered_server *known = u->servers, *end = u->servers + u->count;

	while (known < end && strcmp(known->server, server) != 0)
		known++;
	if (known < end)
		return known;
	known = ARRAY_APPEND(u->servers, u->count);
	if (known)
		memcpy(known->server, server, sizeof(known->server));
	return known;
}

static uint64_t calls_of(const struct calls *c, const char *server)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < c->op_count; i++)
		if (!strcmp(c->ops[i].server, server))
			calls += time_histogram_count(&c->ops[i].total);
	return calls;
}

static uint64_t in_flight_of(const struct calls *c, const char *server)
{
	uint64_t in_flight = 0;

	for (size_t i = 0; i < c->transport_count; i++)
		if (!strcmp(c->transports[i].server, server))
			in_flight += c->transports[i].slots_in_flight;
	return in_flight;
}

/* Whether the source has seen a call in flight begin. */
static bool knows_oldest(const struct calls *c, const char *server)
{
	for (size_t i = 0; i < c->server_count; i++)
		if (!strcmp(c->servers[i].server, server))
			return c->servers[i].oldest_ns[RPC_QUEUE_PENDING];
	return false;
}

/* Gives the transports with calls in flight that age, and the server of @server. */
static int set_age(struct calls *c, const char *server, uint64_t ns)
{
	struct rpc_server_state *s = snapshot_server(c, server);

	if (!s)
		return -ENOMEM;
	if (s->oldest_ns[RPC_QUEUE_PENDING] < ns)
		s->oldest_ns[RPC_QUEUE_PENDING] = ns;
	for (size_t i = 0; i < c->transport_count; i++) {
		struct rpc_transport_state *t = &c->transports[i];

		if (!strcmp(t->server, server) && t->slots_in_flight && t->oldest_ns < ns)
			t->oldest_ns = ns;
	}
	return 0;
}

static void look(struct unanswered_server *v, const struct snapshot *s)
{
	uint64_t calls = calls_of(&s->calls, v->server);
	bool known = knows_oldest(&s->calls, v->server);

	if (v->calls != calls || !in_flight_of(&s->calls, v->server) || (known && !v->sure)) {
		v->seen_ns = 0;
		v->sure = false;
	} else if (!v->seen_ns) {
		v->seen_ns = s->time_ns;
	} else if (v->seen_ns < s->time_ns) {
		v->sure = true;
	}
	v->calls = calls;
}

int unanswered_add(struct unanswered *u, struct snapshot *s)
{
	struct calls *c = &s->calls;
	int err = 0;

	if (!snapshot_knows(c, RPC_FACT_OLDEST + RPC_QUEUE_PENDING))
		return 0;
	for (size_t i = 0; i < c->transport_count && !err; i++) {
		const char *server = c->transports[i].server;
		struct unanswered_server *v = get(u, server);

		if (!v)
			return -ENOMEM;
		look(v, s);
		if (v->sure)
			err = set_age(c, server,
				      s->time_ns - (v->calls ? v->seen_ns : u->attached_ns));
	}
	return err;
}

void unanswered_free(struct unanswered *u)
{
	free(u->servers);
	*u = (struct unanswered){};
}
