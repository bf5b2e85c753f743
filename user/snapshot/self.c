// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/self.h"

void snapshot_hook(struct self *s, const char *name, bool attached)
{
	if (s->hook_count < COUNT(s->hooks))
		s->hooks[s->hook_count++] = (struct hook_state){ name, attached };
}

void snapshot_drop(struct self *s, const char *reason, uint64_t count)
{
	struct drop_count *known =
		ARRAY_FIND(d, s->drops, s->drop_count, !strcmp(d->reason, reason));

	if (known)
		known->count += count;
	else if (s->drop_count < COUNT(s->drops))
		s->drops[s->drop_count++] = (struct drop_count){ reason, count };
}

void snapshot_health(struct self *s, const char *check, int level)
{
	if (s->health_count < COUNT(s->health))
		s->health[s->health_count++] = (struct health_state){ check, level };
}

void snapshot_program(void *self, const char *name, uint64_t runs, uint64_t ns)
{
	struct self *s = self;
	struct program_run *p =
		ARRAY_FIND(x, s->programs, s->program_count, !strcmp(x->name, name));

	if (!p && s->program_count == COUNT(s->programs))
		return;
	if (!p) {
		p = &s->programs[s->program_count++];
		snprintf(p->name, sizeof(p->name), "%s", name);
	}
	p->runs += runs;
	p->ns += ns;
}

void snapshot_finding(struct self *s, const struct finding_state *finding)
{
	bool known = ARRAY_FIND(f, s->findings, s->finding_count,
				!strcmp(f->check, finding->check) &&
					!strcmp(f->device, finding->device) &&
					!strcmp(f->code, finding->code));

	if (!known && s->finding_count < SELF_FINDINGS)
		s->findings[s->finding_count++] = *finding;
}
