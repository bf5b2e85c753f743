// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state of everything observed at one moment. */
#include "snapshot/snapshot.h"

void snapshot_free(struct snapshot *s)
{
	calls_free(&s->calls);
	fault_counts_free(&s->faults);
	*s = (struct snapshot){};
}
