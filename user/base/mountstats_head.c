// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which lines of mountstats begin a mount. */
#include "base/mountstats_head.h"

/* "\timpl_id:\tname='NAME',domain='DOMAIN',date='SECONDS,NANOSECONDS'\n" */
#define CHOSEN_BYTES (2 * 1024 + 80)

bool mountstats_is_head(struct mountstats_place *p, struct span line)
{
	size_t size = span_left(line) + 1;

	if (!p->left &&
	    (span_starts_with(line, "device ") || span_starts_with(line, "no device "))) {
		*p = (struct mountstats_place){};
		return true;
	}
	if (!p->chosen && span_starts_with(line, "\timpl_id:"))
		*p = (struct mountstats_place){ true, CHOSEN_BYTES };
	p->left -= size < p->left ? size : p->left;
	return false;
}
