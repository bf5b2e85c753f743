// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/session.h"

#include <fnmatch.h>

#include "limits/sums.h"
#include "snapshot/fault_counts.h"

const char *const session_event_names[SESSION_EVENT_KINDS] = {
	[SESSION_FAULT] = "fault",
	[SESSION_KERNEL_EVENT] = "kernel_event",
	[SESSION_HUNG] = "hung",
	[SESSION_ANSWERS] = "answers",
	[SESSION_DISCONNECT] = "disconnect",
	[SESSION_SOURCE] = "source",
};

/* ---- the filter ---- */

static bool matches_pattern(const char *pattern, const char *text)
{
	return !pattern || !fnmatch(pattern, text, 0);
}

bool session_wants_mount(const struct session *t, const char *mountpoint)
{
	return matches_pattern(t->filter.mount, mountpoint);
}

bool session_wants_server(const struct session *t, const char *server)
{
	const struct calls *const both[] = { &t->first.calls, &t->last.calls };

	return matches_pattern(t->filter.server, server) &&
	       (!t->filter.mount || ARRAY_FIND(c, both, COUNT(both),
					       CALLS_FIND(m, *c, mount, server,
							  session_wants_mount(t, m->mountpoint))));
}

bool session_lacks_choice(const struct session *t)
{
	const struct calls *c = &t->last.calls;

	return (t->filter.server || t->filter.mount) && !t->server_count && !*c->rpc_missing &&
	       !ARRAY_FIND(m, c->mounts, c->mount_count, session_wants_server(t, m->server));
}

/* ---- one interval ---- */

/* The number of the server; the count of all servers: it has none. */
static size_t server_number(const struct session *t, const char *name)
{
	size_t i = 0;

	while (i < t->server_count && strcmp(t->servers[i].name, name) != 0)
		i++;
	return i;
}

/* Gives the server a number, if the filter accepts it. */
static void find_server(struct session *t, const char *name)
{
	if (server_number(t, name) < t->server_count || !session_wants_server(t, name))
		return;
	snprintf(ARRAY_APPEND(t->servers, t->server_count)->name, LABEL_SIZE, "%s", name);
}

static void find_servers(struct session *t, const struct calls *c)
{
	ARRAY_EACH(v, c->servers, c->server_count)
		find_server(t, v->server);
	ARRAY_EACH(o, c->ops, c->op_count)
		find_server(t, o->server);
}

/* The server's point; if the filter does not accept it, one that nobody reads. */
static struct session_point *point_of(const struct session *t, const char *server)
{
	static struct session_point beyond;
	size_t number = server_number(t, server);

	return number < t->latest.count ? &t->latest.points[number] : &beyond;
}

void session_add_op(struct session_point *p, const struct rpc_op *o)
{
	time_histogram_add(&p->total, &o->total);
	p->calls += time_histogram_count(&o->total);
	for (int i = 0; i < RPC_PHASES; i++)
		p->phase_ns[i] += o->phase[i].sum_ns;
	p->sent_bytes += o->sent_bytes;
	p->received_bytes += o->received_bytes;
}

static void add_transport(struct session_point *p, const struct rpc_transport_state *t)
{
	for (int l = 0; l < RPC_LIMITS; l++)
		RAISE(p->saturated_ns, t->saturated_ns[l]);
#define ADD(name, ...) p->name += t->name;
	TRANSPORT_COUNTS(ADD)
	if (t->alive) {
		p->in_flight += t->slots_in_flight;
		if (t->slots_max < 65536) /* which is no limit */
			p->slots += t->slots_max;
	}
	RAISE(p->oldest_ns, t->oldest_ns);
}

static void fill_points(struct session *t)
{
	const struct delta *d = &t->interval;

	ARRAY_EACH(o, d->calls.ops, d->calls.op_count)
		session_add_op(point_of(t, o->server), o);
	ARRAY_EACH(e, d->calls.errors, d->calls.error_count)
		if (failure_of(e->op, e->status) < FAILURE_GRACE)
			point_of(t, e->server)->errors += e->count;
	ARRAY_EACH(x, d->calls.transports, d->calls.transport_count)
		add_transport(point_of(t, x->server), x);
	ARRAY_EACH(v, d->calls.servers, d->calls.server_count)
		RAISE(point_of(t, v->server)->oldest_ns, v->oldest_ns[server_oldest(v)]);
}

/* ---- the intervals that are kept ---- */

static void add_point(struct session_point *to, const struct session_point *from)
{
	const uint64_t *add = (const uint64_t *)from;
	uint64_t *sum = (uint64_t *)to;

	for (size_t i = 0; i < offsetof(struct session_point, in_flight) / sizeof(*sum); i++)
		sum[i] += add[i];
	RAISE(to->in_flight, from->in_flight);
	RAISE(to->slots, from->slots);
	RAISE(to->oldest_ns, from->oldest_ns);
}

/* Adds the interval after @to, whose points it takes over. The number of servers never falls. */
static void merge_interval(struct session_interval *to, const struct session_interval *next)
{
	for (size_t i = 0; i < to->count; i++)
		add_point(&next->points[i], &to->points[i]);
	free(to->points);
	to->points = next->points;
	to->count = next->count;
	to->ns += next->ns;
}

static void halve_intervals(struct session *t)
{
	t->interval_count /= 2;
	t->merged *= 2;
	for (size_t i = 0; i < t->interval_count; i++) {
		merge_interval(&t->intervals[2 * i], &t->intervals[2 * i + 1]);
		t->intervals[i] = t->intervals[2 * i];
	}
}

static void keep_interval(struct session *t)
{
	struct session_interval copy = t->latest;

	if (!t->merged)
		t->merged = t->pending = 1;
	copy.points = array_copy(copy.points, &copy.count, sizeof(*copy.points));
	if (copy.count != t->server_count)
		return; /* no memory */
	if (t->pending < t->merged) {
		t->pending++;
		merge_interval(&t->intervals[t->interval_count - 1], &copy);
		return;
	}
	if (t->interval_count == SESSION_INTERVALS)
		halve_intervals(t);
	*ARRAY_APPEND(t->intervals, t->interval_count) = copy;
	t->pending = 1;
}

/* ---- events ---- */

static struct session_event *add_event(struct session *t, enum session_event_kind kind, double time,
				       const char *name, uint64_t count)
{
	static struct session_event beyond;
	struct session_event *e = &beyond;

	if (t->event_count < SESSION_EVENTS)
		e = ARRAY_APPEND(t->events, t->event_count);
	else
		t->events_left_out++;
	e->kind = kind;
	e->time = time;
	e->count = count;
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

static void find_faults(struct session *t)
{
	const struct delta *d = &t->interval;
	struct session_event *e;

	ARRAY_EACH(f, d->faults.faults, d->faults.fault_count) {
		if (!f->count)
			continue;
		e = add_event(t, SESSION_FAULT, f->last, f->device, f->count);
		e->code = f->code;
		e->nvswitch = f->nvswitch;
		snprintf(e->what, sizeof(e->what), "%s", f->severity);
	}
	ARRAY_EACH(k, d->faults.kernel_events, d->faults.kernel_event_count) {
		if (!k->count)
			continue;
		e = add_event(t, SESSION_KERNEL_EVENT, k->last, k->device, k->count);
		snprintf(e->what, sizeof(e->what), "%s", k->kind);
	}
}

static void find_stalls(struct session *t)
{
	double end = t->latest.time + (double)t->latest.ns / 1e9;

	for (size_t i = 0; i < t->latest.count; i++) {
		const struct session_point *p = &t->latest.points[i];
		struct session_server *v = &t->servers[i];
		uint64_t hung_ns = server_hangs(&t->limits, v->name);

		if (p->disconnects)
			add_event(t, SESSION_DISCONNECT, end, v->name, p->disconnects);
		if (hung_ns && !v->hung_ns)
			add_event(t, SESSION_HUNG, end - (double)hung_ns / 1e9, v->name, 1);
		else if (!hung_ns && v->hung_ns &&
			 CALLS_FIND(x, &t->interval.calls, server, v->name, true))
			add_event(t, SESSION_ANSWERS, end, v->name, 1)->hung_ns =
				v->hung_ns + t->latest.ns;
		v->hung_ns = hung_ns;
	}
}

/* Keeps the slowest calls, in order. */
static void add_slow(struct session *t, const struct slow_call *c)
{
	size_t at;

	t->slow_calls++;
	if (t->slow_count == SESSION_SLOW_CALLS &&
	    c->total_ns <= t->slow[SESSION_SLOW_CALLS - 1].total_ns)
		return;
	if (t->slow_count < SESSION_SLOW_CALLS)
		*ARRAY_APPEND(t->slow, t->slow_count) = *c;
	if (!t->slow_count)
		return;
	at = t->slow_count - 1;
	for (; at && t->slow[at - 1].total_ns < c->total_ns; at--)
		t->slow[at] = t->slow[at - 1];
	t->slow[at] = *c;
}

/* ---- files ---- */

bool session_wants_file(const struct session *t, const struct file_calls *f, bool directory)
{
	return f->directory == directory && session_wants_server(t, f->server) &&
	       session_wants_mount(t, f->mount);
}

struct file_calls session_files_rest(const struct session *t, bool directory)
{
	struct file_calls rest = {};

	ARRAY_EACH(o, t->total.calls.ops, t->total.calls.op_count) {
		if (!session_wants_server(t, o->server) ||
		    (!directory && rpc_kind_of(o->op) >= RPC_KIND_METADATA))
			continue;
		rest.calls += time_histogram_count(&o->total);
		rest.bytes += o->sent_bytes + o->received_bytes;
		rest.total_ns += o->total.sum_ns;
	}
	ARRAY_EACH(f, t->last.calls.files, t->last.calls.file_count) {
		if (!session_wants_file(t, f, directory))
			continue;
		/* A call may end while a snapshot is made. */
		rest.calls = counted_since(rest.calls, f->calls);
		rest.bytes = counted_since(rest.bytes, f->bytes);
		rest.total_ns = counted_since(rest.total_ns, f->total_ns);
	}
	return rest;
}

/* ---- snapshots ---- */

static void add_limits(struct session *t)
{
	limit_sums_add(&t->limits, &t->interval);
	if (!t->recent)
		return;
	limit_sums_add(&t->next, &t->interval);
	if (t->last.wall < t->next_wall + 60 && t->last.wall >= t->next_wall)
		return;
	limit_sums_free(&t->limits);
	t->limits = t->next;
	t->next = (struct limit_sums){};
	t->judged_wall = t->next_wall;
	t->next_wall = t->last.wall;
}

static void end_interval(struct session *t)
{
	struct session_interval *latest = &t->latest;

	find_servers(t, &t->last.calls);
	free(latest->points);
	*latest = (struct session_interval){ .time = t->interval.begin, .ns = t->interval.ns };
	for (size_t i = 0; i < t->server_count; i++)
		ARRAY_APPEND(latest->points, latest->count);
	fill_points(t);
	for (size_t i = 0; i < latest->count; i++)
		add_point(&t->servers[i].sums, &latest->points[i]);
	if (t->source_number && t->source_number != t->last.calls.source_number)
		add_event(t, SESSION_SOURCE, t->interval.begin,
			  rpc_source_names[t->last.calls.source], 1);
	t->source_number = t->last.calls.source_number;
	find_faults(t);
	add_limits(t);
	find_stalls(t);
	ARRAY_EACH(c, t->last.calls.slow, t->last.calls.slow_count)
		if ((double)c->total_ns >= t->filter.slower * 1e9 &&
		    session_wants_server(t, c->server) && session_wants_mount(t, c->mount))
			add_slow(t, c);
	episodes_add(&t->episodes, &t->interval);
	if (t->keep_intervals)
		keep_interval(t);
}

int session_add(struct session *t, struct snapshot *s)
{
	struct snapshot before = t->last;
	uint64_t failed = memory_failed();

	if (!t->first.time_ns) {
		snapshot_free(&t->first);
		t->first = *s;
		t->judged_wall = t->next_wall = s->wall;
		t->last.faults.gpu_watched = s->faults.gpu_watched; /* it may be the only one */
		t->source_number = s->calls.source_number;
	} else {
		t->last = *s;
		delta_free(&t->interval);
		delta_make(&t->interval, before.time_ns ? &before : &t->first, &t->last);
		snapshot_free(&before);
		end_interval(t);
	}
	*s = (struct snapshot){};
	return memory_error(failed);
}

COMPARE_BY(by_time, struct session_event, time)

COMPARE_BY(by_rank, struct session_server, rank)

/* Sorts the servers in the order of the headline, then the others. */
static void order_servers(struct session *t)
{
	struct headline h;

	session_headline(t, &h);
	ARRAY_EACH(v, t->servers, t->server_count) {
		const struct headline_item *item =
			ARRAY_FIND(x, h.items, h.count, !strcmp(x->subject, v->name));

		v->number = (size_t)(v - t->servers);
		v->rank = item ? (size_t)(item - h.items) : h.count + v->number;
	}
	if (t->server_count)
		qsort(t->servers, t->server_count, sizeof(*t->servers), by_rank);
}

int session_end(struct session *t)
{
	uint64_t failed = memory_failed();

	delta_make(&t->total, &t->first, &t->last);
	/* A stall is found some time after its begin. */
	if (t->event_count)
		qsort(t->events, t->event_count, sizeof(*t->events), by_time);
	order_servers(t);
	episodes_end(&t->episodes);
	return memory_error(failed);
}

void session_free(struct session *t)
{
	for (size_t i = 0; i < t->interval_count; i++)
		free(t->intervals[i].points);
	free(t->intervals);
	free(t->latest.points);
	for (size_t i = 0; i < t->server_count; i++)
		free(t->servers[i].remedy);
	free(t->servers);
	free(t->faults);
	free(t->events);
	free(t->slow);
	limit_sums_free(&t->limits);
	limit_sums_free(&t->next);
	episodes_free(&t->episodes);
	delta_free(&t->interval);
	delta_free(&t->total);
	snapshot_free(&t->first);
	snapshot_free(&t->last);
	*t = (struct session){};
}

/* Whether the kernel's line about a server adds nothing: an item about the server says it better, or the server answers again. */
static bool is_said(const struct headline *h, const struct fault_counts *f,
		    const struct kernel_event *v)
{
	static const char *const in_calls[] = { "nfs_", "lockd_", "rpc_" };
	struct span kind = span_of(v->kind);

	return ARRAY_FIND(x, in_calls, COUNT(in_calls), span_starts_with(kind, *x)) &&
	       (ARRAY_FIND(x, h->items, h->count,
			   x->rank.kind > HEADLINE_GPU && x->rank.kind < HEADLINE_LIMIT &&
				   !strcmp(x->subject, v->device)) ||
		(span_ends_with(kind, "_not_responding") &&
		 ARRAY_FIND(x, f->kernel_events, f->kernel_event_count,
			    *x->kind == *v->kind && span_ends_with(span_of(x->kind), "_ok") &&
				    !strcmp(x->device, v->device) && x->last >= v->last)));
}

/* After the servers' items. */
static void add_kernel_events(struct headline *h, const struct session *t)
{
	const struct headline servers = *h;
	struct headline_rank rank;

	ARRAY_EACH(v, t->last.faults.kernel_events, t->last.faults.kernel_event_count) {
		struct span kind = span_of(v->kind);
		const struct event_class *class = event_class_of(EVENT_KIND_KERNEL, kind);

		/* Of one that is neither it is not known whether it was corrected. */
		if (v->gpu_driver || v->last < t->judged_wall || !strcmp(class->grade, "unknown") ||
		    !headline_rank_kernel(&rank, kind, v->device, class->grade))
			continue;
		if (span_is(kind, "nfs_state_lost"))
			headline_add(
				h, rank, v->device,
				"%s: open files or locks were lost. Jobs that use them may have "
				"wrong data; see the kernel log.",
				*v->device ? v->device : "An NFS server");
		else if (!is_said(&servers, &t->last.faults, v))
			headline_add(h, rank, v->device, "%s%s%s%s%s%s. %s.", v->kind,
				     class->meaning, *v->device ? " of " : "", v->device,
				     *v->about ? ": " : "", v->about,
				     rank.level == HEADLINE_FAIL || span_is(kind, "kernel_oops") ||
						     span_is(kind, "kernel_corruption") ?
					     "Drain the node and restart it" :
					     "See the kernel log");
	}
}

/* A connection is much slower if a reply takes so many times as long as on the median one. */
#define MUCH_SLOWER 5
/* ... and if so many calls as long as the server's longest one do not explain it. */
#define LONG_CALLS 4

/* Connections have the same calls only if all are of one nconnect; after a stall a few calls make the difference. */
static void add_slow_connection(struct headline *h, const struct session *t, const char *server)
{
	const struct server_sums *v = server_sums_of(&t->limits, server);
	struct connections all = connections_of(&t->total, server);
	const struct connection *worst = all.count ? &all.list[all.count - 1] : NULL;

	if (v && !v->stalls && !v->silent_ns && !*v->waited_on && all.count > 2 &&
	    v->nconnect == all.count && worst->slow &&
	    worst->mean_ns > MUCH_SLOWER * all.median_ns && v->longest_ns &&
	    (worst->mean_ns - all.median_ns) * worst->transport->replies >
		    LONG_CALLS * v->longest_ns)
		headline_add(
			h, HEADLINE_RANK(HEADLINE_WARN, HEADLINE_ERRORS, 0), server,
			"%s: %s, one of %zu connections, is slow: %.1f ms to a reply, on the median one %.1f ms. "
			"Look at its path through the network.",
			server, connection_text((char[CONNECTION_SIZE]){}, worst->transport),
			all.count, (double)worst->mean_ns / 1e6, (double)all.median_ns / 1e6);
	free(all.list);
}

void session_headline(const struct session *t, struct headline *h)
{
	bool calls = false;

	*h = (struct headline){};
	headline_add_faults(h, t->faults, t->fault_count);
	for (size_t i = 0; i < t->server_count; i++) {
		headline_add_server(h, &t->limits, &t->last.calls, t->servers[i].name,
				    t->last.wall);
		add_slow_connection(h, t, t->servers[i].name);
		calls |= t->servers[i].sums.calls;
	}
	add_kernel_events(h, t);
	if (session_lacks_choice(t))
		headline_add(h, (struct headline_rank){ .kind = HEADLINE_WELL }, "",
			     "Nothing matches%s%s%s%s.", t->filter.server ? " --server " : "",
			     t->filter.server ?: "", t->filter.mount ? " --mount " : "",
			     t->filter.mount ?: "");
	else
		headline_end(h, t->last.faults.gpu_watched, &t->last.calls, calls);
}

size_t session_open_before(const struct session *t)
{
	size_t open = 0;

	ARRAY_EACH(f, t->faults, t->fault_count)
		open += f->standing == STANDING_OPEN &&
			(f->first > 0 ? f->first : f->last) < t->first.wall;
	return open;
}

double session_seconds(const struct session *t)
{
	return (double)counted_since(t->last.time_ns, t->first.time_ns) / 1e9;
}

double session_wall(const struct session *t, uint64_t monotonic_ns)
{
	return t->first.wall + ((double)monotonic_ns - (double)t->first.time_ns) / 1e9;
}

size_t session_largest_phases(const uint64_t *phase_ns, enum rpc_phase *largest)
{
	size_t count = 0, at;

	for (unsigned int p = 0; p < RPC_PHASES; p++) {
		if (!phase_ns[p])
			continue;
		for (at = count++; at && phase_ns[largest[at - 1]] < phase_ns[p]; at--)
			largest[at] = largest[at - 1];
		largest[at] = (enum rpc_phase)p;
	}
	return count;
}
