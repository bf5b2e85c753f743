// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkpoint episodes: bursts of writes (a save) or reads (a load) to one server.
 *
 * How long a checkpoint takes, how much it moves and what limits it, without asking the application. Only the counters at
 * the end of each interval are known, therefore a burst is what stands out from the traffic before it, the background.
 *
 * - A burst begins in an interval with RISE_RATE and RISE_FACTOR times the background.
 * - It continues while an interval has 1 / QUIET_PART of its peak rate. An interval in which a call waits all the time
 *   continues it at any rate: the checkpoint stands still.
 * - It is an episode if its peak is PEAK_RATE and PEAK_FACTOR times the background, and if on average PEAK_CONCURRENCY
 *   calls were in flight in an interval: an application waited for them. Writeback of a log file does not wait.
 * - What lasts too long is no burst but a new background: MOST_SECONDS, or if it was there when the session began
 *   MOST_FIRST_INTERVALS.
 * - Bytes are those above the background.
 *
 * A burst mostly begins and ends within an interval. Its first and last intervals count for the time that their bytes took
 * at the peak rate. Example, intervals of 15 s: 3 GB, 15 GB, 5 GB. The peak is 1 GB/s, and the burst lasted 3 + 15 + 5 =
 * 23 s, not 45 s.
 *
 * The background is the mean of the intervals outside of bursts, at first; later each interval moves it by a part of the
 * difference. It rises slowly (BACKGROUND_PART), so that a slow burst does not become its own background, and falls faster
 * (FALL_PART), but not at once, because a burst also delays other traffic. */
#include "limits/episodes.h"

#include "limits/sums.h"

const char *const episode_kind_names[EPISODE_KINDS] = {
	[EPISODE_SAVE] = "save",
	[EPISODE_LOAD] = "load",
};

/* Rates are bytes per second. */
#define RISE_RATE 1e5
#define RISE_FACTOR 2
#define PEAK_RATE 1e6
#define PEAK_FACTOR 4
#define PEAK_CONCURRENCY 0.5
#define QUIET_PART 8
#define BACKGROUND_PART 16
#define FALL_PART 4
#define MOST_FIRST_INTERVALS 10
#define MOST_SECONDS 3600.0

/* The calls of one kind to one server in one interval. */
struct traffic {
	uint64_t begin_ns, ns;
	uint64_t bytes, total_ns, phase_ns[RPC_PHASES];
	bool stalled; /* a call waited all the time */
};

struct episode_watch {
	char server[LABEL_SIZE];
	enum episode_kind kind;
	double background; /* bytes per second outside of bursts */
	uint64_t before_bytes; /* bytes above the background in the interval before */
	bool seen; /* its traffic in the first interval of the session is known */
	unsigned int quiet; /* intervals outside of bursts, counted up to BACKGROUND_PART */
	/* The present burst, if .on. */
	bool on, from_start;
	unsigned int intervals;
	struct traffic first, last;
	uint64_t bytes, total_ns, phase_ns[RPC_PHASES];
	double peak_rate, peak_concurrency;
	struct limit_sums sums;
	struct calls owners; /* only .owner_calls, of which only the bytes are used */
};

void episodes_free(struct episodes *e)
{
	for (size_t i = 0; i < e->watch_count; i++) {
		limit_sums_free(&e->watches[i].sums);
		calls_free(&e->watches[i].owners);
	}
	free(e->list);
	free(e->watches);
	*e = (struct episodes){};
}

static struct episode_watch *watch_get(struct episodes *e, const char *server,
				       enum episode_kind kind)
{
	struct episode_watch *w = ARRAY_FIND(x, e->watches, e->watch_count,
					     x->kind == kind && !strcmp(x->server, server));

	if (w)
		return w;
	w = ARRAY_APPEND(e->watches, e->watch_count);
	snprintf(w->server, sizeof(w->server), "%s", server);
	w->kind = kind;
	/* A server that comes later had no calls before. */
	w->seen = e->begun;
	return w;
}

/* The part of @bytes that calls without an error moved. */
static uint64_t without_failed(uint64_t bytes, uint64_t calls, uint64_t failed)
{
	return !failed ? bytes :
	       failed < calls ?
			 (uint64_t)((double)bytes * (double)(calls - failed) / (double)calls) :
			 0;
}

/* The part of an op's @bytes. */
static uint64_t moved_by(const struct delta *d, const struct rpc_op *op, uint64_t bytes)
{
	uint64_t failed = 0;

	CALLS_EACH(e, &d->calls, error, op->server)
		if (!strcmp(e->op, op->op))
			failed += e->count;
	return without_failed(bytes, time_histogram_count(&op->total), failed);
}

static struct traffic traffic_of(const struct episode_watch *w, const struct delta *d,
				 const struct rpc_server_state *server)
{
	enum call_kind kind = w->kind == EPISODE_SAVE ? CALL_WRITE : CALL_READ;
	struct traffic t = { .begin_ns = d->begin_ns, .ns = d->ns };

	CALLS_EACH(o, &d->calls, op, w->server) {
		if (call_kind_of(o->op) != kind)
			continue;
		t.bytes += moved_by(d, o, kind == CALL_WRITE ? o->sent_bytes : o->received_bytes);
		t.total_ns += o->total.sum_ns;
		for (int p = 0; p < RPC_PHASES; p++)
			t.phase_ns[p] += o->phase[p].sum_ns;
	}
	t.stalled = server->oldest_ns[server_oldest(server)] >= t.ns;
	return t;
}

static double rate_of(const struct traffic *t)
{
	return (double)t->bytes * 1e9 / (double)t->ns;
}

/* The mean number of calls in flight, by Little's law. */
static double concurrency_of(const struct traffic *t)
{
	return (double)t->total_ns / (double)t->ns;
}

/* Of the present burst so far, bytes per second. */
static double mean_rate(const struct episode_watch *w)
{
	return (double)w->bytes * 1e9 / (double)(w->last.begin_ns + w->last.ns - w->first.begin_ns);
}

/* The interval's bytes above the background. */
static uint64_t above_background(const struct episode_watch *w, const struct traffic *t)
{
	double usual = w->background * (double)t->ns / 1e9;

	return (double)t->bytes > usual ? t->bytes - (uint64_t)usual : 0;
}

/* How long the interval's bytes took at the peak rate, ns. */
static uint64_t part_of(const struct episode_watch *w, const struct traffic *t)
{
	double ns = (double)t->bytes * 1e9 / w->peak_rate;

	return ns < (double)t->ns ? (uint64_t)ns : t->ns;
}

static void forget_burst(struct episode_watch *w)
{
	struct episode_watch kept = *w;

	limit_sums_free(&w->sums);
	calls_free(&w->owners);
	*w = (struct episode_watch){
		.kind = kept.kind, .background = kept.background, .quiet = kept.quiet, .seen = true
	};
	memcpy(w->server, kept.server, sizeof(w->server));
}

/* The bytes of an owner that an episode of this kind counts. */
static uint64_t moved_bytes(enum episode_kind kind, const struct rpc_sums *sums)
{
	enum rpc_kind of = kind == EPISODE_SAVE ? RPC_KIND_WRITE : RPC_KIND_READ;

	return without_failed(kind == EPISODE_SAVE ? sums->sent_bytes[of] :
						     sums->received_bytes[of],
			      sums->calls[of], sums->errors[of]);
}

static void add_owners(struct episode_watch *w, const struct delta *d)
{
	if (!snapshot_knows(&d->end->calls, RPC_FACT_OWNERS))
		return;
	CALLS_EACH(o, &d->calls, owner_call, w->server)
		if (moved_bytes(w->kind, &o->sums))
			rpc_sums_add(&snapshot_owner_calls(&w->owners, w->server, o->owner)->sums,
				     &o->sums);
}

static void set_owner(struct episode *e, const struct episode_watch *w)
{
	uint64_t most = 0;

	ARRAY_EACH(o, w->owners.owner_calls, w->owners.owner_call_count) {
		if (moved_bytes(w->kind, &o->sums) > most)
			memcpy(e->owner, o->owner, sizeof(e->owner));
		RAISE(most, moved_bytes(w->kind, &o->sums));
	}
}

/* The burst is over. Adds it to the episodes if it was strong enough. */
static void end_burst(struct episodes *e, struct episode_watch *w)
{
	const struct traffic *first = &w->first, *last = &w->last;
	uint64_t begin = first->begin_ns + first->ns - part_of(w, first);
	uint64_t end = last->begin_ns + part_of(w, last);
	struct episode *to;
	struct verdict v;

	if (w->peak_rate >= PEAK_RATE && w->peak_rate >= PEAK_FACTOR * w->background &&
	    w->peak_concurrency >= PEAK_CONCURRENCY) {
		to = ARRAY_APPEND(e->list, e->count);
		memcpy(to->server, w->server, sizeof(to->server));
		to->kind = w->kind;
		to->start_ns = begin;
		to->seconds = (double)(end - begin) / 1e9;
		to->bytes = w->bytes;
		to->mean_rate = (double)w->bytes / to->seconds;
		to->peak_rate = w->peak_rate;
		for (int p = 0; p < RPC_PHASES && w->total_ns; p++)
			to->share[p] = (double)w->phase_ns[p] / (double)w->total_ns;
		/* If it passed mostly without answers, the server hung. */
		v = verdict_of(&w->sums, w->server);
		to->bound_by = 2 * v.numbers.stall_seconds >= to->seconds ? BOUND_HUNG : v.bound_by;
		set_owner(to, w);
	}
	forget_burst(w);
}

static void add_quiet_interval(struct episode_watch *w, const struct traffic *t)
{
	double rate = rate_of(t);

	w->before_bytes = above_background(w, t);
	if (w->quiet < BACKGROUND_PART)
		w->quiet++;
	w->background += (rate - w->background) /
			 (rate < w->background && w->quiet > FALL_PART ? FALL_PART : w->quiet);
	w->seen = true;
}

/* An interval of a burst, the first one or a later one. */
static void add_burst_interval(struct episode_watch *w, const struct traffic *t,
			       const struct delta *d, const struct rpc_server_state *server)
{
	double seconds;

	if (!w->on) {
		w->on = true;
		w->from_start = !w->seen;
		w->first = *t;
		/* The end of the interval before may belong to it. */
		w->bytes = w->before_bytes;
	}
	w->seen = true;
	w->bytes += above_background(w, t);
	w->total_ns += t->total_ns;
	for (int p = 0; p < RPC_PHASES; p++)
		w->phase_ns[p] += t->phase_ns[p];
	RAISE(w->peak_rate, rate_of(t));
	RAISE(w->peak_concurrency, concurrency_of(t));
	if (t->bytes) /* otherwise it stands still */
		w->last = *t;
	w->intervals++;
	limit_sums_add_server(&w->sums, d, server);
	add_owners(w, d);
	seconds = (double)(t->begin_ns + t->ns - w->first.begin_ns) / 1e9;
	if (seconds > MOST_SECONDS || (w->from_start && w->intervals > MOST_FIRST_INTERVALS)) {
		w->background = mean_rate(w);
		forget_burst(w);
	}
}

static void add_interval(struct episodes *e, struct episode_watch *w, const struct traffic *t,
			 const struct delta *d, const struct rpc_server_state *server)
{
	double rate = rate_of(t);

	if (!t->ns)
		return;
	/* A second burst may begin within one. If nobody waited for the first one, or if it was too weak to belong to this
	 * interval, it is the background of the second. */
	if (w->on && w->intervals > 1 &&
	    ((w->peak_concurrency < PEAK_CONCURRENCY && rate >= RISE_FACTOR * mean_rate(w)) ||
	     rate > QUIET_PART * w->peak_rate)) {
		struct traffic last = w->last;

		w->background = mean_rate(w);
		forget_burst(w);
		w->before_bytes = above_background(w, &last);
	}
	if (!w->on) {
		/* Traffic of the first interval of the session is a burst only if an application waited for it. */
		if (rate >= RISE_RATE && rate >= RISE_FACTOR * w->background &&
		    (w->seen || concurrency_of(t) >= PEAK_CONCURRENCY))
			add_burst_interval(w, t, d, server);
		else
			add_quiet_interval(w, t);
		return;
	}
	if (rate * QUIET_PART >= w->peak_rate || t->stalled)
		return add_burst_interval(w, t, d, server);
	/* The last calls of the burst may have ended in this interval. */
	if (above_background(w, t)) {
		w->bytes += above_background(w, t);
		w->last = *t;
		w->intervals++;
	}
	end_burst(e, w);
}

static void forget_servers(struct episodes *e, const struct delta *d)
{
	size_t kept = 0;

	ARRAY_EACH(w, e->watches, e->watch_count) {
		if (CALLS_FIND(v, &d->calls, server, w->server, true)) {
			e->watches[kept++] = *w;
			continue;
		}
		if (w->on)
			end_burst(e, w);
	}
	e->watch_count = kept;
}

void episodes_add(struct episodes *e, const struct delta *d)
{
	ARRAY_EACH(server, d->calls.servers, d->calls.server_count)
		for (int k = 0; k < EPISODE_KINDS; k++) {
			struct episode_watch *w =
				watch_get(e, server->server, (enum episode_kind)k);
			struct traffic t = traffic_of(w, d, server);

			add_interval(e, w, &t, d, server);
		}
	e->begun = true;
	forget_servers(e, d);
}

void episodes_end(struct episodes *e)
{
	ARRAY_EACH(w, e->watches, e->watch_count)
		/* A burst that lasted for the whole session is none. */
		if (w->on && !w->from_start)
			end_burst(e, w);
}

void episode_count_in(struct calls *c, const struct episode *e)
{
	const char *kind = episode_kind_names[e->kind], *server = LABEL_OTHER;
	uint64_t ns = (uint64_t)(e->seconds * 1e9);
	struct episode_stats *to;
	size_t own = 0;

	ARRAY_EACH(x, c->episodes, c->episode_count) {
		if (!strcmp(x->server, e->server) && !strcmp(x->kind, kind))
			server = e->server;
		own += strcmp(x->server, LABEL_OTHER) != 0;
	}
	to = snapshot_episodes(c, own < EPISODE_SETS ? e->server : server, kind);
	to->seconds.bucket[histogram_index(ns, TIME_SHIFT, TIME_OVERFLOW)]++;
	to->seconds.sum_ns += ns;
	to->bytes.bucket[histogram_index(e->bytes, EPISODE_BYTES_SHIFT, DEPTH_OVERFLOW)]++;
	to->bytes.sum += e->bytes;
}
