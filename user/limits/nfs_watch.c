// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stalls of NFS and saturated limits: what has begun and what has ended. */
#include "limits/nfs_watch.h"

/* What is watched of a server: a stall, or one of its limits. */
enum { WATCH_STALL, WATCH_LIMIT, WATCHES = WATCH_LIMIT + RPC_LIMITS };

struct nfs_watch_entry {
	struct nfs_span span;
	int watch;
	uint64_t last_ns; /* when it was there last */
};

/* The entry of what lasts; NULL: nothing does. */
static struct nfs_watch_entry *find(const struct nfs_watch *w, const char *server, int watch)
{
	return ARRAY_FIND(x, w->entries, w->count,
			  x->watch == watch && !strcmp(x->span.server, server));
}

static struct nfs_watch_entry *begin(struct nfs_watch *w, const char *server, int watch)
{
	struct nfs_watch_entry *e;

	if (!w->entries)
		w->entries = calloc(NFS_WATCH_SPANS, sizeof(*w->entries));
	if (!w->entries || w->count == NFS_WATCH_SPANS)
		return NULL;
	e = &w->entries[w->count++];
	*e = (struct nfs_watch_entry){ .watch = watch };
	snprintf(e->span.server, sizeof(e->span.server), "%s", server);
	return e;
}

static void end(struct nfs_watch *w, struct nfs_watch_entry *e, uint64_t end_ns,
		nfs_span_handler *handle, void *context)
{
	e->span.end_ns = end_ns;
	handle(context, &e->span);
	*e = w->entries[--w->count];
}

/* Whose the oldest unanswered call of the server is. */
static void set_oldest(struct nfs_span *span, const struct snapshot *s)
{
	uint64_t oldest = 0;

	ARRAY_EACH(o, s->calls.owner_calls, s->calls.owner_calls_count) {
		if (o->oldest_ns <= oldest || strcmp(o->server, span->server) != 0)
			continue;
		oldest = o->oldest_ns;
		memcpy(span->owner, o->owner, sizeof(span->owner));
	}
}

/* Whose calls to the server waited most. */
static void set_waiter(struct nfs_span *span, const struct delta *d)
{
	uint64_t most = 0, waits;

	ARRAY_EACH(o, d->owner_calls, d->owner_calls_count) {
		if (strcmp(o->now->server, span->server) != 0)
			continue;
		waits = 0;
		for (int k = 0; k < RPC_KINDS; k++)
			waits += o->sums.wait_ns[k];
		if (waits > most)
			memcpy(span->owner, o->now->owner, sizeof(span->owner));
		RAISE(most, waits);
	}
}

static void add_stalls(struct nfs_watch *w, const struct snapshot *s, nfs_span_handler *handle,
		       void *context)
{
	ARRAY_EACH(v, s->calls.servers, s->calls.server_count) {
		struct nfs_watch_entry *e = find(w, v->server, WATCH_STALL);
		int oldest = 0;

		for (int q = 1; q < RPC_QUEUES; q++)
			if (v->oldest_ns[q] > v->oldest_ns[oldest])
				oldest = q;
		if (v->oldest_ns[oldest] < NFS_STALL_NS)
			continue;
		if (!e) {
			e = begin(w, v->server, WATCH_STALL);
			if (!e)
				continue;
			e->span.kind = "nfs_stall";
			e->span.name = rpc_queue_names[oldest];
			e->span.begin_ns = s->time_ns - v->oldest_ns[oldest];
			set_oldest(&e->span, s);
			handle(context, &e->span);
		}
		e->last_ns = s->time_ns;
	}
	for (size_t i = w->count; i-- > 0;)
		if (w->entries[i].watch == WATCH_STALL && w->entries[i].last_ns != s->time_ns)
			end(w, &w->entries[i], s->time_ns, handle, context);
}

/* Tasks waited for a limit of a server for this part of the interval. */
static void add_share(struct nfs_watch *w, const struct delta *d, const char *server, int limit,
		      double part, nfs_span_handler *handle, void *context)
{
	struct nfs_watch_entry *e = find(w, server, WATCH_LIMIT + limit);

	if (!e && part >= NFS_SATURATED_SHARE) {
		e = begin(w, server, WATCH_LIMIT + limit);
		if (!e)
			return;
		e->span.kind = "nfs_saturation";
		e->span.name = rpc_limit_names[limit];
		e->span.begin_ns = d->begin_ns;
		set_waiter(&e->span, d);
		handle(context, &e->span);
	}
	if (e && part >= NFS_RELIEVED_SHARE)
		e->last_ns = d->end->time_ns;
}

static void add_saturation(struct nfs_watch *w, const struct delta *d, nfs_span_handler *handle,
			   void *context)
{
	ARRAY_EACH(t, d->transports, d->transport_count) {
		for (int l = 0; l < RPC_LIMITS; l++)
			if (snapshot_knows(&d->end->calls, RPC_FACT_SATURATED + l))
				add_share(w, d, t->now->server, l,
					  (double)t->saturated_ns[l] / (double)d->ns, handle,
					  context);
	}
	for (size_t i = w->count; i-- > 0;) {
		struct nfs_watch_entry *e = &w->entries[i];

		if (e->watch >= WATCH_LIMIT &&
		    d->end->time_ns >= e->last_ns + NFS_SATURATION_END_NS)
			end(w, e, e->last_ns, handle, context);
	}
}

void nfs_watch_add(struct nfs_watch *w, const struct delta *d, nfs_span_handler *handle,
		   void *context)
{
	add_stalls(w, d->end, handle, context);
	if (d->ns)
		add_saturation(w, d, handle, context);
}

void nfs_watch_free(struct nfs_watch *w)
{
	free(w->entries);
	*w = (struct nfs_watch){};
}
