// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/snapshot.h"

void snapshot_free(struct snapshot *s)
{
	calls_free(&s->calls);
	fault_counts_free(&s->faults);
	*s = (struct snapshot){};
}

struct fault *fault_group_next(const struct snapshot *s, struct fault *f, const struct fault *like)
{
	return ARRAY_FIND(x, f, s->faults.faults + s->faults.fault_count - f,
			  x->code == like->code && x->nvswitch == like->nvswitch &&
				  !strcmp(x->device, like->device));
}

bool fault_group_sum(const struct snapshot *s, const struct fault *f, struct fault_group *g)
{
	struct fault *first = fault_group_next(s, s->faults.faults, f);

	*g = (struct fault_group){};
	for (struct fault *x = first; x; x = fault_group_next(s, x + 1, f)) {
		g->count += x->count;
		g->recent += x->recent;
		RAISE(g->boots, x->boots);
		if (x->first > 0 && (!(g->first > 0) || x->first < g->first))
			g->first = x->first;
		RAISE(g->last, x->last);
	}
	return first == f;
}
