// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/snapshot.h"

#include "snapshot/table.h"

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

#define TEXT(to, text) memccpy(to, text, 0, sizeof(to) - 1) /* the rest is 0 */

void snapshot_hook(struct self *s, const char *name, bool attached)
{
	struct hook_state *hook = table_append(&tables[TABLE_HOOKS], s);

	TEXT(hook->name, name);
	hook->attached = attached;
}

void snapshot_drop(struct self *s, const char *reason, uint64_t count)
{
	struct drop_count *drop = table_get(TABLE_DROPS, s, (const void *[]){ reason });

	drop->count += count;
}

void snapshot_health(struct self *s, const char *check, int level)
{
	struct health_state *health = table_append(&tables[TABLE_HEALTH], s);

	TEXT(health->check, check);
	health->level = level;
}

void snapshot_program(void *self, const char *name, uint64_t runs, uint64_t ns)
{
	struct program_run *run = table_get(TABLE_PROGRAMS, self, (const void *[]){ name });

	run->runs += runs;
	run->ns += ns;
}

void snapshot_finding(struct self *s, const char *check, const char *device, const char *code)
{
	table_get(TABLE_FINDINGS, s, (const void *[]){ check, device, code });
}
