// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of an event log become events of one clock, and gaps between them. */
#include "past/history.h"

#include <math.h>

#include "xid/xid_line.h"

/* An agent without a line for this long did not run, or could not write. */
#define SILENCE_SECONDS (EVENT_ALIVE_SECONDS + 60.0)

/* If the clock jumps by less between two lines of a boot, it was not set. */
#define STEP_SECONDS 1.0

/* Replayed lines of the same text are the same event if they differ by less. */
#define REPLAY_SECONDS 1.0

/* Both ends of a link report its failure within this time. */
#define LINK_SECONDS 1.0

/* Bursts that may be open at a time; a power of two. */
#define OPEN_INCIDENTS 256

/* Stalls and saturated limits that may last at a time. */
#define OPEN_SPANS 512

static bool is_agents(const struct past_event *e, const char *name)
{
	return e->kind == EVENT_KIND_AGENT && span_is(e->name, name);
}

/* Whether both are of one kind, name and device. */
static bool is_same_thing(const struct past_event *a, const struct past_event *b)
{
	return a->code == b->code && span_equals(a->kind_name, b->kind_name) &&
	       span_equals(a->name, b->name) && span_equals(a->device, b->device);
}

/* Adds a gap, unless it is empty. */
static void add_gap(struct history *h, double from, double to, const char *reason)
{
	if (from < to)
		*ARRAY_APPEND(h->gaps, h->gap_count) = (struct past_gap){ from, to, reason };
}

static void number_runs(struct history *h)
{
	const struct past_event *start = NULL;
	unsigned int boot = 0, run = 0;
	double last = -INFINITY;

	for (size_t i = 0; i < h->count; i++) {
		struct past_event *e = &h->events[i];

		if (is_agents(e, "start")) {
			run += i > 0;
			/* Before the first start there may be lines of another boot: their clock shows it. */
			boot += start ? !span_equals(start->boot, e->boot) : e->monotonic < last;
			start = e;
		}
		if (!e->replayed && !(e->monotonic < last))
			last = e->monotonic;
		e->boot_number = boot;
		e->run = run;
	}
}

/* ---- one clock for each boot ---- */

/* By how much the wall clock is ahead of CLOCK_MONOTONIC in this line. */
static double wall_offset(const struct past_event *e)
{
	return e->time - e->monotonic;
}

/* The same for all lines of a boot: as in the present, or as in the last line that has both times; NAN: no line has. */
static double boot_offset(const struct past_event *first, size_t count,
			  const struct history_now *now)
{
	const struct past_event *start = ARRAY_FIND(e, first, count, is_agents(e, "start")),
				*last = NULL;

	ARRAY_EACH(e, first, count)
		if (!isnan(e->monotonic) && (!last || !e->replayed))
			last = e;
	if (last && start && *now->boot && span_is(start->boot, now->boot))
		return now->wall - now->monotonic;
	return last ? wall_offset(last) : NAN;
}

static void add_step(struct history *h, const struct past_event *e, double seconds)
{
	const struct past_event step = {
		.kind = EVENT_KIND_CLOCK,
		.kind_name = span_of(event_kinds[EVENT_KIND_CLOCK].name),
		.name = span_of("set"),
		.pid = -1,
		.time = e->time,
		.monotonic = e->monotonic,
		.start = NAN,
		.seconds = seconds,
		.bytes = NAN,
		.count = 1,
		.boot_number = e->boot_number,
		.run = e->run,
	};

	*ARRAY_APPEND(h->events, h->count) = step;
}

static void set_clocks(struct history *h, const struct history_now *now)
{
	size_t count = h->count;
	double offset = NAN, before = NAN;

	for (size_t i = 0; i < count; i++) {
		struct past_event *e = &h->events[i];
		double step, own = wall_offset(e);

		if (!i || e->boot_number != e[-1].boot_number) {
			const struct past_event *next =
				ARRAY_FIND(x, e, count - i, x->boot_number != e->boot_number);

			offset = boot_offset(e, next ? (size_t)(next - e) : count - i, now);
			before = NAN;
		}
		if (isnan(own))
			continue;
		step = own - before;
		before = own;
		if (fabs(own - offset) >= STEP_SECONDS)
			e->time = e->monotonic + offset;
		e->written = e->time;
		if (!isnan(e->start))
			e->time = e->start + offset;
		if (fabs(step) >= STEP_SECONDS)
			add_step(h, e, step);
	}
}

/* ---- gaps ---- */

/* A run of an agent. Lines before the first line about a run form a run of their own. */
struct run {
	bool any; /* one has begun */
	double to; /* its last line */
	bool stops; /* by a line of its own */
	unsigned int boot_number;
};

/* Adds the gap before a run that begins with @e. */
static void begin_run(struct history *h, struct run *r, const struct past_event *e)
{
	struct run before = *r;
	bool booted = before.boot_number != e->boot_number;

	*r = (struct run){ true, e->time, false, e->boot_number };
	add_gap(h, before.any ? before.to : -INFINITY, e->time,
		!before.any  ? (is_agents(e, "start") ? "the log begins with this start" :
							"the log begins here") :
		booted       ? (before.stops ? "the agent was stopped, and the node was booted" :
					       "the node was booted, and no agent had stopped before") :
		before.stops ? "the agent was stopped" :
			       "the agent ended without stopping: it was killed, or crashed");
}

/* Adds a line to its run. The time of a line may be before the time when it was written. */
static void extend_run(struct history *h, struct run *r, const struct past_event *e)
{
	if (e->replayed || r->stops)
		return;
	if (e->written > r->to + SILENCE_SECONDS + EVENT_ALIVE_SECONDS)
		add_gap(h, r->to, e->written, "the agent wrote nothing: it hung");
	RAISE(r->to, e->written);
	r->stops = is_agents(e, "stop");
}

static void find_gaps(struct history *h, size_t count, double now)
{
	struct run r = {};

	ARRAY_EACH(e, h->events, count) {
		if (e->kind != EVENT_KIND_AGENT && !r.any)
			continue; /* its start is in a log that is gone */
		if (!r.any || is_agents(e, "start"))
			begin_run(h, &r, e);
		extend_run(h, &r, e);
	}
	if (!r.any)
		add_gap(h, -INFINITY, INFINITY, "the log does not show when an agent ran");
	else if (r.stops || now - r.to > SILENCE_SECONDS)
		add_gap(h, r.to, INFINITY,
			r.stops ? "the agent was stopped" :
				  "the agent ended without stopping, or cannot write its log");
}

/* ---- several lines about one thing ---- */

/* Lines of a burst become its first. */
static void merge_bursts(struct history *h, size_t count)
{
	size_t open[OPEN_INCIDENTS] = {}; /* number of the line, and 1 */

	for (size_t i = 0; i < count; i++) {
		struct past_event *e = &h->events[i], *first;
		size_t *slot = &open[e->incident % OPEN_INCIDENTS];

		if (!e->incident || e->state != PAST_MOMENT)
			continue;
		first = *slot ? &h->events[*slot - 1] : NULL;
		if (!first || first->incident != e->incident || first->run != e->run ||
		    !is_same_thing(first, e)) {
			*slot = i + 1;
			continue;
		}
		first->count += e->count;
		RAISE(first->end, e->time);
		e->hidden = true;
	}
}

/* Until its end is found, an event lasts until its run ended, or still lasts. */
static void cut_spans(struct history *h, size_t count, double now)
{
	bool stops = false;
	double end = 0;

	for (size_t i = count; i-- > 0;) {
		struct past_event *e = &h->events[i];
		bool last_run = e->run == h->events[count - 1].run;

		if (i + 1 == count || h->events[i + 1].run != e->run) {
			end = -INFINITY;
			stops = false;
		}
		if (!e->replayed && e->written > end)
			end = e->written;
		stops |= is_agents(e, "stop");
		if (e->state != PAST_BEGIN)
			continue;
		e->cut = stops || !last_run || now - end > SILENCE_SECONDS;
		e->end = e->cut ? end : INFINITY;
	}
}

struct open_spans {
	struct past_event *list[OPEN_SPANS];
	size_t count;
};

/* Removes from the open begins the one that belongs to an end, and returns it; NULL: there is none. */
static struct past_event *take_begin(struct open_spans *open, const struct past_event *end)
{
	for (size_t i = open->count; i-- > 0;) {
		struct past_event *b = open->list[i];

		if (b->run != end->run || b->start != end->start || !is_same_thing(b, end))
			continue;
		open->list[i] = open->list[--open->count];
		return b;
	}
	return NULL;
}

static void join_spans(struct history *h, size_t count)
{
	struct open_spans open = {};

	for (size_t i = 0; i < count; i++) {
		struct past_event *e = &h->events[i], *begin;
		double seconds = e->seconds > 0 ? e->seconds : 0;

		if (e->state == PAST_BEGIN) {
			if (open.count && (open.count == OPEN_SPANS || open.list[0]->run != e->run))
				open.count = 0;
			open.list[open.count++] = e;
		} else if (e->state == PAST_END) {
			begin = take_begin(&open, e);
			e->end = e->time + seconds;
			if (!begin)
				continue;
			begin->end = e->end;
			begin->seconds = e->seconds;
			begin->least = e->least;
			begin->cut = false;
			if (e->kind == EVENT_KIND_NFS_ERRORS) { /* all that failed */
				begin->text = e->text;
				begin->owner = e->owner;
			}
			e->hidden = true;
		} else if (seconds > 0) {
			e->end = e->time + seconds;
		}
	}
}

/* ---- order ---- */

static int compare_clocks(const void *left, const void *right)
{
	const struct past_event *a = *(const struct past_event *const *)left;
	const struct past_event *b = *(const struct past_event *const *)right;

	return ORDER(a->boot_number, b->boot_number)                 ?:
		       !!isnan(a->monotonic) - !!isnan(b->monotonic) ?:
		       ORDER(a->monotonic, b->monotonic);
}

/* Whether @e, which a run has replayed, is an event that an earlier run has reported. */
static bool is_again(const struct past_event *e, const struct past_event *other)
{
	return other->run < e->run && !other->hidden && is_same_thing(other, e) &&
	       span_equals(other->text, e->text);
}

static bool is_near(const struct past_event *a, const struct past_event *b)
{
	return a->boot_number == b->boot_number &&
	       fabs(a->monotonic - b->monotonic) < REPLAY_SECONDS;
}

/* Without a state file an agent reports again what is in the kernel log. */
static void hide_replayed(struct history *h)
{
	FREED struct past_event **order = NULL;
	size_t count = 0;

	ARRAY_EACH(e, h->events, h->count)
		*ARRAY_APPEND(order, count) = e;
	if (count)
		qsort(order, count, sizeof(struct past_event *), compare_clocks);
	for (size_t i = 0; i < count; i++) {
		struct past_event *e = order[i];
		size_t k = i;

		if (!e->replayed)
			continue;
		while (k && is_near(order[k - 1], e))
			k--;
		for (; !e->hidden && k < count && is_near(order[k], e); k++)
			e->hidden = is_again(e, order[k]);
	}
}

COMPARE_BY(compare_times, struct past_event, time)

/* A link's failure, an Xid 74 or 149, and the reports of other GPUs about their ends within a second, Xid 45 included, become
 * one event: the root. A graver report stays an event of its own. */
static void join_links(struct history *h)
{
	struct past_event *near = h->events, *end = h->events + h->count;

	for (struct past_event *r = h->events; r < end; r++) {
		while (near->time < r->time - LINK_SECONDS)
			near++;
		if (r->hidden || (r->code != XID_NVLINK_ERROR && r->code != XID_NVLINK_NETIR))
			continue;
		for (struct past_event *e = near; e < end && e->time <= r->time + LINK_SECONDS;
		     e++) {
			if (e->hidden || e->kind != r->kind || span_equals(e->device, r->device) ||
			    (e->code != XID_NVLINK_ERROR && e->code != XID_CHANNEL_REMOVED &&
			     (e->code < XID_NVLINK5_FIRST || e->code > XID_NVLINK5_LAST)) ||
			    (!strcmp(past_grade(e), "fatal") &&
			     strcmp(past_grade(r), "fatal") != 0))
				continue;
			r->followers += e->count;
			e->hidden = true;
		}
	}
}

void history_digest(struct history *h, const struct history_now *now)
{
	size_t count = h->count;

	number_runs(h);
	set_clocks(h, now);
	find_gaps(h, count, now->wall);
	for (size_t i = 0; i < h->count; i++)
		h->events[i].end = h->events[i].time;
	merge_bursts(h, count);
	cut_spans(h, count, now->wall);
	join_spans(h, count);
	for (size_t i = 0; i < h->count; i++)
		if (!(h->events[i].end >= h->events[i].time))
			h->events[i].end = h->events[i].time;
	hide_replayed(h);
	if (h->count)
		qsort(h->events, h->count, sizeof(*h->events), compare_times);
	join_links(h);
}

void history_free(struct history *h)
{
	free(h->events);
	free(h->gaps);
	*h = (struct history){};
}
