// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/table.h"

#define TEXT(to, text) memccpy(to, text, 0, sizeof(to) - 1) /* the rest is 0 */

void snapshot_hook(struct self *s, const char *name, bool attached)
{
	struct hook_state *hook = table_append(&tables[TABLE_HOOKS], s);

	TEXT(hook->name, name);
	hook->attached = attached;
}

void snapshot_drop(struct self *s, const char *reason, uint64_t count)
{
	struct drop_count *drop = table_get(&tables[TABLE_DROPS], s, (const void *[]){ reason });

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
	struct program_run *run =
		table_get(&tables[TABLE_PROGRAMS], self, (const void *[]){ name });

	run->runs += runs;
	run->ns += ns;
}

void snapshot_finding(struct self *s, const char *check, const char *device, const char *code)
{
	table_get(&tables[TABLE_FINDINGS], s, (const void *[]){ check, device, code });
}
