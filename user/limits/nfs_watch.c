// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "limits/nfs_watch.h"

#include "limits/sums.h"

/* All are in a span's text. */
_Static_assert(VICTIMS_TEXT >= SILENCE_REASON_SIZE, "they fit");

/* What can last on a server: a stall, errors of one meaning on one of its mounts, waits for credentials or a recovery, a session that
 * is lost again and again, closings of a connection, or the saturation of a limit. WATCH_LOST: errors that have ended, by which data
 * were not written: of each owner's the last, for NFS_LOST_NS. */
enum {
	WATCH_STALL,
	WATCH_ERRORS,
	WATCH_WAITS = WATCH_ERRORS + FAILURE_NONE,
	WATCH_SESSION,
	WATCH_LOST,
	WATCH_CLOSED,
	WATCH_LIMIT
};

struct nfs_watch_entry {
	struct nfs_span span;
	int watch;
	char mountpoint[LABEL_SIZE]; /* of errors, or ""; of closings: the transport */
	uint64_t closings; /* of a session: intervals with a new one */
	/* Of closings that began a span: those of the connection that had most, and how many such connections there were. */
	uint64_t most;
	size_t connections;
	struct failures failures; /* since its begin */
	bool unwritten; /* one of them says that data were not written */
};

/* An interval, and the handler that is called for what has begun or ended. */
struct watching {
	struct nfs_watch *w;
	const struct delta *d;
	nfs_span_handler *handle;
	void *context;
};

/* The entry of a span that lasts, or a new one, whose span has no name yet; none with 0 as @begin_ns. @mountpoint: as in the entry. NULL:
 * there is no room or no memory, which is counted. */
static struct nfs_watch_entry *get_entry(struct nfs_watch *w, const char *server, int watch,
					 const char *mountpoint, uint64_t begin_ns)
{
	struct nfs_watch_entry *e =
		ARRAY_FIND(x, w->entries, w->count,
			   x->watch == watch && !strcmp(x->span.server, server) &&
				   !strcmp(x->mountpoint, mountpoint));

	if (e || !begin_ns)
		return e;
	if (!w->entries)
		w->entries = calloc(NFS_WATCH_SPANS, sizeof(*w->entries));
	if (!w->entries || w->count == NFS_WATCH_SPANS) {
		w->no_room++;
		return NULL;
	}
	e = &w->entries[w->count++];
	*e = (struct nfs_watch_entry){
		.watch = watch,
		.span = { .kind = watch == WATCH_STALL ? EVENT_KIND_NFS_STALL :
				  watch < WATCH_LIMIT  ? EVENT_KIND_NFS_ERRORS :
							 EVENT_KIND_NFS_SATURATION,
			  .begin_ns = begin_ns },
	};
	snprintf(e->span.server, sizeof(e->span.server), "%s", server);
	snprintf(e->mountpoint, sizeof(e->mountpoint), "%s", mountpoint);
	return e;
}

static void end_entry(const struct watching *n, struct nfs_watch_entry *e, uint64_t end_ns)
{
	if (e->span.name && !e->span.end_ns) { /* it has begun */
		e->span.end_ns = end_ns;
		if (e->watch < WATCH_WAITS && failures_worst(&e->failures))
			failures_text(e->span.text, &e->failures);
		n->handle(n->context, &e->span);
	}
	if (e->watch == WATCH_LOST && n->d->end->time_ns < end_ns + NFS_LOST_NS)
		return;
	if (e->watch != WATCH_LOST && e->unwritten) {
		e->watch = WATCH_LOST;
		e = ARRAY_FIND(x, n->w->entries, n->w->count,
			       x != e && x->watch == WATCH_LOST &&
				       !strcmp(x->span.server, e->span.server) &&
				       !strcmp(x->span.owner, e->span.owner) &&
				       !strcmp(x->mountpoint, e->mountpoint));
		if (!e)
			return;
	}
	*e = n->w->entries[--n->w->count];
}

/* The span has lasted to the end of the interval. Reports it as @name, if it has just begun. */
static void begin_span(const struct watching *n, struct nfs_span *span, const char *name)
{
	span->last_ns = n->d->end->time_ns;
	if (span->name)
		return;
	span->name = name;
	n->handle(n->context, span);
}

/* Sets the owner of the server's oldest unanswered call, or whose calls to it waited most. */
static void set_owner(struct nfs_span *span, const struct calls *c, bool oldest)
{
	uint64_t most = 0;

	CALLS_EACH(o, c, owner_call, span->server) {
		uint64_t ns = oldest ? o->oldest_ns : rpc_kinds_sum(o->sums.wait_ns);

		if (ns > most)
			memcpy(span->owner, o->owner, sizeof(span->owner));
		RAISE(most, ns);
	}
}

static void add_stalls(const struct watching *n)
{
	const struct snapshot *s = n->d->end;
	struct nfs_watch *w = n->w;

	ARRAY_EACH(v, s->calls.servers, s->calls.server_count) {
		enum rpc_queue oldest = server_oldest(v);
		struct nfs_watch_entry *e;

		if (v->oldest_ns[oldest] < NFS_STALL_NS)
			continue;
		e = get_entry(w, v->server, WATCH_STALL, "", s->time_ns - v->oldest_ns[oldest]);
		if (!e)
			continue;
		if (!e->span.name) {
			set_owner(&e->span, &s->calls, true);
			calls_victims(e->span.text, &s->calls, v->server,
				      CALLS_FIND(o, &n->d->calls, op, v->server, true));
		}
		begin_span(n, &e->span, rpc_queue_names[oldest]);
	}
	for (size_t i = w->count; i-- > 0;)
		if (w->entries[i].watch == WATCH_STALL && w->entries[i].span.last_ns != s->time_ns)
			end_entry(n, &w->entries[i], s->time_ns);
}

/* Adds that tasks waited for a limit of @server for this share of the interval. */
static void add_share(const struct watching *n, const char *server, int limit, double share)
{
	struct nfs_watch_entry *e = get_entry(n->w, server, WATCH_LIMIT + limit, "",
					      share >= NFS_SATURATED_SHARE ? n->d->begin_ns : 0);

	if (e && !e->span.name)
		set_owner(&e->span, &n->d->calls, false);
	if (e && share >= NFS_RELIEVED_SHARE)
		begin_span(n, &e->span, rpc_limit_names[limit]);
}

/* Whether the client has recovered its state for long, and makes no call for it. If a call waits for the server, that is a stall. */
static bool is_drained(const struct rpc_server_state *v, const struct delta *d)
{
	return v->draining_now_ns >= NFS_STALL_NS && !v->oldest_ns[server_oldest(v)] &&
	       !CALLS_FIND(o, &d->calls, op, v->server, true);
}

/* No two spans begin in the same microsecond: the event log's reader finds the begin of an end by it. */
static struct nfs_watch_entry *begin_errors(const struct watching *n, const char *server, int watch,
					    const char *mountpoint)
{
	return get_entry(n->w, server, watch, mountpoint, n->d->begin_ns + 1000 * n->w->count);
}

/* Calls wait for credentials, or for a recovery that does not go on. */
static void update_wait(const struct watching *n, struct nfs_span *span,
			const struct rpc_server_state *v)
{
	bool upcall = v->upcall_ns >= NFS_STALL_NS;

	if (upcall)
		wait_text(span->text, v->upcall_by, v->upcall_ns, WAIT_GSSD);
	else
		snprintf(
			span->text, sizeof(span->text),
			"calls%.200s have waited for %.0f s until the client has recovered its state, and it "
			"makes no call for that: see the kernel log; perhaps only a reboot ends it.",
			VICTIMS(&n->d->end->calls, span->server, false),
			(double)v->draining_now_ns / 1e9);
	begin_span(n, span, upcall ? bound_names[BOUND_CREDENTIALS] : "draining");
}

/* The sums begin with the first failed call, the span with so many that they are worth a sentence. If others fail as well, or
 * WRITEs after other calls, another span begins: nobody would learn of them while the first one lasts. */
static void update_errors(const struct watching *n, struct nfs_watch_entry *e)
{
	enum failure failure = e->watch - WATCH_ERRORS;
	struct nfs_span *span = &e->span;
	char owners[LABEL_SIZE];

	failures_add(&e->failures, n->d, span->server, e->mountpoint, failure);
	if (!failures_last(&e->failures))
		return;
	memcpy(owners, span->owner, sizeof(owners));
	if (failures_grow(&e->failures, &e->unwritten, owners) && span->name &&
	    failure < FAILURE_STATE) {
		span->end_ns = span->last_ns;
		n->handle(n->context, span);
		span->name = NULL;
		span->begin_ns = n->d->begin_ns + 1000 * (size_t)(e - n->w->entries);
		span->end_ns = 0;
	}
	memcpy(span->owner, owners, sizeof(owners));
	span->last_ns = n->d->end->time_ns;
	if (!failures_worst(&e->failures))
		return;
	failures_text(span->text, &e->failures);
	begin_span(n, span, failure_names[failure]);
}

/* A session of which all mounts lose a few of many calls, each time. */
static void update_session(const struct watching *n, struct nfs_watch_entry *e)
{
	struct nfs_span *span = &e->span;

	failures_add(&e->failures, n->d, span->server, NULL, FAILURE_STATE);
	if (!failures_last(&e->failures))
		return;
	span->last_ns = n->d->end->time_ns;
	e->closings += CALLS_FIND(o, &n->d->calls, op, span->server,
				  !strcmp(o->op, "CREATE_SESSION") ||
					  !strcmp(o->op, "SETCLIENTID")) != NULL;
	if (e->closings < CLOSINGS || failures_worst(&e->failures))
		return;
	snprintf(span->text, sizeof(span->text),
		 "This client created its session, or registered, again %" PRIu64
		 " times: another client has its identity (host name, nfs4_unique_id), or the "
		 "server drops it.",
		 e->closings);
	begin_span(n, span, failure_names[FAILURE_STATE]);
}

/* @mountpoint: only of calls to this mount; NULL: to any. False: there may be more than fit in the list. */
static bool begin_failures(const struct watching *n, const char *server, const char *mountpoint)
{
	struct failures failed = {};

	failures_add(&failed, n->d, server, mountpoint, FAILURE_NONE);
	ARRAY_EACH(f, failed.list, failed.count) {
		enum failure failure = failure_of(f->op, f->status);

		begin_errors(n, server, WATCH_ERRORS + (int)failure, f->mountpoint);
		if (failure == FAILURE_STATE)
			begin_errors(n, server, WATCH_SESSION, "");
	}
	return failed.count < FAILURES;
}

/* Each mount has spans of its own, one for each meaning of its errors: with its owners, and its end. */
static void add_errors(const struct watching *n)
{
	ARRAY_EACH(v, n->d->calls.servers, n->d->calls.server_count) {
		const char *server = v->server;
		bool waits = v->upcall_ns >= NFS_STALL_NS || is_drained(v, n->d);
		bool all = begin_failures(n, server, NULL);

		CALLS_EACH(m, &n->d->calls, mount_call, server)
			if (!all)
				begin_failures(n, server, m->mountpoint);
		if (waits)
			begin_errors(n, server, WATCH_WAITS, "");
		ARRAY_EACH(e, n->w->entries, n->w->count)
			if (strcmp(e->span.server, server) != 0)
				continue;
			else if (e->watch >= WATCH_ERRORS && e->watch < WATCH_WAITS)
				update_errors(n, e);
			else if (e->watch == WATCH_WAITS && waits)
				update_wait(n, &e->span, v);
			else if (e->watch == WATCH_SESSION)
				update_session(n, e);
	}
}

/* Closings within NFS_QUIET_NS of each other, while the server answers: if it is silent, connecting fails as well, and that is a stall. */
static void count_closings(const struct watching *n)
{
	ARRAY_EACH(t, n->d->calls.transports, n->d->calls.transport_count) {
		struct nfs_watch_entry *e;

		if (!t->disconnects || !CALLS_FIND(o, &n->d->calls, op, t->server, true))
			continue;
		e = begin_errors(n, t->server, WATCH_CLOSED, t->name);
		if (!e)
			continue;
		e->closings += t->disconnects;
		e->span.last_ns = n->d->end->time_ns;
	}
}

/* The connection whose closings have begun a span, which stands for all of the server; NULL: none has. */
static struct nfs_watch_entry *shown_closings(const struct nfs_watch *w, const char *server)
{
	return ARRAY_FIND(x, w->entries, w->count,
			  x->watch == WATCH_CLOSED && x->span.name &&
				  !strcmp(x->span.server, server));
}

static void add_closings(const struct watching *n)
{
	const struct nfs_watch *w = n->w;

	count_closings(n);
	ARRAY_EACH(e, w->entries, w->count) {
		const char *server = e->span.server;
		char connection[CONNECTION_SIZE + 48];
		struct nfs_watch_entry *shown;
		size_t closed = 0;

		if (e->watch != WATCH_CLOSED || e->closings < CLOSINGS ||
		    e->span.last_ns != n->d->end->time_ns)
			continue;
		shown = shown_closings(w, server) ?: e;
		ARRAY_EACH(x, w->entries, w->count)
			closed += x->watch == WATCH_CLOSED && x->closings >= CLOSINGS &&
				  !strcmp(x->span.server, server);
		if (e->closings > shown->most) {
			shown->most = e->closings;
			RAISE(shown->connections, closed);
			connection_text(connection, CALLS_FIND(t, &n->d->calls, transport, server,
							       !strcmp(t->name, e->mountpoint)));
			if (shown->connections > 1)
				sprintf(connection + strlen(connection),
					", one of %zu such connections,", shown->connections);
			closings_text(shown->span.text, connection, e->closings);
		}
		begin_span(n, &shown->span, "connection");
	}
}

const struct nfs_span *nfs_watch_errors(const struct nfs_watch *w, size_t *i)
{
	while (*i < w->count) {
		const struct nfs_watch_entry *e = &w->entries[(*i)++];

		if (e->watch >= WATCH_ERRORS && e->watch <= WATCH_CLOSED && e->span.name)
			return &e->span;
	}
	return NULL;
}

/* If nothing was answered on a connection, calls wait to be sent on it as it may not even exist: that is a stall, and more
 * connections do not help. */
static void add_saturation(const struct watching *n)
{
	const struct delta *d = n->d;

	ARRAY_EACH(t, d->calls.transports, d->calls.transport_count)
		for (int l = 0; l < RPC_LIMITS; l++)
			if (snapshot_knows(&d->end->calls, RPC_FACT_SATURATED + l) &&
			    (l != RPC_LIMIT_SEND || t->replies ||
			     !snapshot_knows(&d->end->calls, RPC_FACT_REPLIES)))
				add_share(n, t->server, l,
					  (double)t->saturated_ns[l] / (double)d->ns);
}

/* Ends the errors and limits that have not been seen for a while. Who comes later still learns of data that were not written. */
static void end_quiet(const struct watching *n)
{
	for (size_t i = n->w->count; i-- > 0;) {
		struct nfs_watch_entry *e = &n->w->entries[i];

		if (e->watch != WATCH_STALL && n->d->end->time_ns >= e->span.last_ns + NFS_QUIET_NS)
			end_entry(n, e, e->span.last_ns);
	}
}

void nfs_watch_add(struct nfs_watch *w, const struct delta *d, nfs_span_handler *handle,
		   void *context)
{
	const struct watching n = { w, d, handle, context };

	add_stalls(&n);
	if (!d->ns)
		return;
	add_errors(&n);
	add_closings(&n);
	add_saturation(&n);
	end_quiet(&n);
}
