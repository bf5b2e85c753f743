// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Servers that have not answered since before the source could see their calls. */

#include "base/array.h"
#include "rpc/polled/polled.h"

struct unanswered_server {
	char server[LABEL_SIZE];
	uint64_t calls; /* that had ended */
	/* The first snapshot since then with calls in flight of which the source knows none; CLOCK_MONOTONIC, 0: none. */
	uint64_t seen_ns;
	bool sure; /* another snapshot has shown the same */
	/* In the snapshot that is looked at: */
	bool has_transport, known; /* the source has seen a call in flight begin */
	uint64_t calls_now, in_flight;
};

/* Entries of a server mostly follow each other: *@server, if not NULL, is the last one that was found. */
static bool find(const struct unanswered *u, const char *label, struct unanswered_server **server)
{
	struct unanswered_server *known = u->servers, *end = u->servers + u->count;

	if (*server && !strcmp((*server)->server, label))
		return true;
	while (known < end && strcmp(known->server, label) != 0)
		known++;
	*server = known < end ? known : NULL;
	return *server;
}

static int add_up(struct unanswered *u, const struct calls *c)
{
	struct unanswered_server *v = NULL;

	for (size_t i = 0; i < u->count; i++) {
		u->servers[i].has_transport = u->servers[i].known = false;
		u->servers[i].calls_now = u->servers[i].in_flight = 0;
	}
	for (const struct rpc_transport_state *t = c->transports;
	     t < c->transports + c->transport_count; t++) {
		if (!find(u, t->server, &v)) {
			v = ARRAY_APPEND(u->servers, u->count);
			if (!v)
				return -ENOMEM;
			memcpy(v->server, t->server, sizeof(v->server));
		}
		v->has_transport = true;
		v->in_flight += t->slots_in_flight;
	}
	for (size_t i = 0; i < c->op_count; i++)
		if (find(u, c->ops[i].server, &v))
			v->calls_now += time_histogram_count(&c->ops[i].total);
	for (size_t i = 0; i < c->server_count; i++)
		if (find(u, c->servers[i].server, &v))
			v->known = c->servers[i].oldest_ns[RPC_QUEUE_PENDING];
	return 0;
}

static void look(struct unanswered_server *v, uint64_t time_ns)
{
	if (v->calls != v->calls_now || !v->in_flight || (v->known && !v->sure)) {
		v->seen_ns = 0;
		v->sure = false;
	} else if (!v->seen_ns) {
		v->seen_ns = time_ns;
	} else if (v->seen_ns < time_ns) {
		v->sure = true;
	}
	v->calls = v->calls_now;
}

/* Gives the transports with calls in flight that age, and their server. */
static int set_age(struct calls *c, const char *server, uint64_t ns)
{
	struct rpc_server_state *s = snapshot_server(c, server);

	if (!s)
		return -ENOMEM;
	RAISE(s->oldest_ns[RPC_QUEUE_PENDING], ns);
	for (size_t i = 0; i < c->transport_count; i++) {
		struct rpc_transport_state *t = &c->transports[i];

		if (!strcmp(t->server, server) && t->slots_in_flight && t->oldest_ns < ns)
			t->oldest_ns = ns;
	}
	return 0;
}

int unanswered_add(struct unanswered *u, struct snapshot *s)
{
	int err;

	if (!snapshot_knows(&s->calls, RPC_FACT_OLDEST + RPC_QUEUE_PENDING))
		return 0;
	err = add_up(u, &s->calls);
	for (struct unanswered_server *v = u->servers; v < u->servers + u->count && !err; v++) {
		if (!v->has_transport)
			continue;
		look(v, s->time_ns);
		if (v->sure)
			err = set_age(&s->calls, v->server,
				      s->time_ns - (v->calls ? v->seen_ns : u->attached_ns));
	}
	return err;
}

void unanswered_free(struct unanswered *u)
{
	free(u->servers);
	*u = (struct unanswered){};
}
