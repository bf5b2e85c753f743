// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pairs the two reports of one fault. */
#include "faults/fault_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void take_out(struct fault_pairs *p, size_t i)
{
	struct fault_report *out = &p->list[p->first + i];

	p->count--;
	/* In a storm it is nearly always the oldest. */
	if (i)
		memmove(out, out + 1, (p->count - i) * sizeof(*out));
	else
		p->first++;
}

static bool alike(const struct fault_report *a, const struct fault_report *b)
{
	return a->code == b->code && a->nvswitch == b->nvswitch && !strcmp(a->device, b->device);
}

bool fault_pairs_take(struct fault_pairs *p, const struct fault_report *report)
{
	for (size_t i = 0; i < p->count; i++) {
		struct fault_report *w = &p->list[p->first + i];

		if (w->by_driver == report->by_driver || !alike(w, report))
			continue;
		if (w->more)
			w->more--;
		else
			take_out(p, i);
		return true;
	}
	return false;
}

/* Where nothing of its own would be lost, the report waits with another. */
static bool join(struct fault_pairs *p, const struct fault_report *report)
{
	for (size_t i = p->count; i--;) {
		struct fault_report *w = &p->list[p->first + i];

		if (report->arrived_ns > w->arrived_ns + FAULT_PAIR_ALIKE_NS)
			break;
		if (w->by_driver == report->by_driver && alike(w, report) &&
		    !strcmp(w->message, report->message)) {
			w->more++;
			return true;
		}
	}
	return false;
}

int fault_pairs_add(struct fault_pairs *p, const struct fault_report *report)
{
	if (fault_pairs_take(p, report))
		return 1;
	if (join(p, report))
		return 0;
	if (p->count == MAX_WAITING)
		return -ENOSPC;
	if (!p->list) {
		p->list = calloc((size_t)2 * MAX_WAITING, sizeof(*p->list));
		if (!p->list)
			return -ENOMEM;
	}
	if (p->first >= MAX_WAITING) {
		memmove(p->list, p->list + p->first, p->count * sizeof(*p->list));
		p->first = 0;
	}
	p->list[p->first + p->count++] = *report;
	return 0;
}

bool fault_pairs_expire(struct fault_pairs *p, uint64_t now_ns, bool all,
			struct fault_report *report)
{
	if (!p->count || (!all && now_ns < p->list[p->first].arrived_ns + FAULT_PAIR_WAIT_NS))
		return false;
	*report = p->list[p->first];
	take_out(p, 0);
	return true;
}

void fault_pairs_free(struct fault_pairs *p)
{
	free(p->list);
	*p = (struct fault_pairs){};
}
