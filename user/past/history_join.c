// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two observers of the same past: where one did not watch, the other one counts. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "past/history.h"

static bool in_gap(const struct past_gap *gaps, size_t count, double time)
{
	for (size_t i = 0; i < count; i++)
		if (time >= gaps[i].from && time <= gaps[i].to)
			return true;
	return false;
}

static int earlier_event(const void *left, const void *right)
{
	const struct past_event *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

static int earlier_gap(const void *left, const void *right)
{
	const struct past_gap *a = left, *b = right;

	return (a->from > b->from) - (a->from < b->from);
}

int history_join(struct history *h, const struct history *other, double from, double to)
{
	struct history old = { .gaps = h->gaps, .gap_count = h->gap_count };
	int err = 0;

	h->gaps = NULL;
	h->gap_count = 0;
	for (size_t i = 0; i < other->count && !err; i++) {
		struct past_event e = other->events[i];

		if (!in_gap(old.gaps, old.gap_count, e.time))
			continue;
		if (e.seconds > 0)
			e.end = e.time + e.seconds;
		err = history_add(h, &e);
	}
	for (size_t i = 0; i < old.gap_count && !err; i++) {
		const struct past_gap *g = &old.gaps[i];

		err = history_add_gap(h, g->from, g->to < from ? g->to : from, g->reason);
		if (!err)
			err = history_add_gap(h, g->from > to ? g->from : to, g->to, g->reason);
	}
	free(old.gaps);
	if (h->count)
		qsort(h->events, h->count, sizeof(*h->events), earlier_event);
	if (h->gap_count)
		qsort(h->gaps, h->gap_count, sizeof(*h->gaps), earlier_gap);
	return err;
}
