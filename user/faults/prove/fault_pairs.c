// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pairs the two reports of one fault. */
#include "faults/prove/parts.h"

/* Moves the report out of the list to @report. */
static void take_at(struct fault_pairs *p, size_t i, struct fault_report *report)
{
	struct fault_report *removed = &p->list[p->first + i];

	*report = *removed;
	p->count--;
	/* In a storm it is nearly always the oldest. */
	if (i)
		memmove(removed, removed + 1, (p->count - i) * sizeof(*removed));
	else
		p->first++;
}

static bool same_fault(const struct fault_report *a, const struct fault_report *b)
{
	return a->code == b->code && a->nvswitch == b->nvswitch && !strcmp(a->device, b->device);
}

/* An unproven text: any user can have made it. */
static bool is_doubtful(const struct fault_report *report)
{
	return report->pending && !report->likely;
}

bool fault_pairs_take(struct fault_pairs *p, const struct fault_report *report, bool doubtful)
{
	for (size_t i = 0; i < p->count; i++) {
		struct fault_report *w = &p->list[p->first + i];

		if (w->by_driver == report->by_driver || !same_fault(w, report))
			continue;
		if (!doubtful && (is_doubtful(w) || is_doubtful(report)))
			continue;
		p->taken = *w;
		if (w->more)
			w->more--;
		else
			take_at(p, i, &p->taken);
		return true;
	}
	return false;
}

/* Adds the report to an equal one that waits, if there is one. */
static bool merge(struct fault_pairs *p, const struct fault_report *report)
{
	for (size_t i = p->count; i--;) {
		struct fault_report *w = &p->list[p->first + i];

		if (report->arrived_ns > w->arrived_ns + FAULT_PAIR_ALIKE_NS)
			break;
		if (w->by_driver == report->by_driver && w->pending == report->pending &&
		    w->likely == report->likely && same_fault(w, report) &&
		    !strcmp(w->message, report->message)) {
			w->more++;
			return true;
		}
	}
	return false;
}

int fault_pairs_add(struct fault_pairs *p, const struct fault_report *report)
{
	if (fault_pairs_take(p, report, false))
		return 1;
	if (merge(p, report))
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

bool fault_pairs_pending(const struct fault_pairs *p, const char *device, unsigned int code)
{
	return ARRAY_FIND(w, p->list + p->first, p->count,
			  w->pending && w->likely && !w->nvswitch && w->code == code &&
				  !strcmp(w->device, device));
}

bool fault_pairs_take_doubtful(struct fault_pairs *p, struct fault_report *report)
{
	struct fault_report *first = p->list + p->first;
	struct fault_report *w = ARRAY_FIND(x, first, p->count, is_doubtful(x));

	if (w)
		take_at(p, (size_t)(w - first), report);
	return w;
}

bool fault_pairs_expire(struct fault_pairs *p, uint64_t now_ns, bool all,
			struct fault_report *report)
{
	if (!p->count || (!all && now_ns < p->list[p->first].arrived_ns + FAULT_PAIR_WAIT_NS))
		return false;
	take_at(p, 0, report);
	return true;
}

void fault_pairs_free(struct fault_pairs *p)
{
	free(p->list);
	*p = (struct fault_pairs){};
}
