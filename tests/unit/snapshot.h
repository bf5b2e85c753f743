/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots in tests: two that each test begins with empty, and what fills them. Include it after unit.h. */
#pragma once

#include "../calls.h"
#include "snapshot/delta.h"
#include "snapshot/table.h"

static struct snapshot before, now;
static struct delta d; /* of the two, by subtract() */

AFTER_EACH()
{
	delta_free(&d);
	snapshot_free(&before);
	snapshot_free(&now);
}

static inline const struct delta *subtract(void)
{
	delta_free(&d);
	delta_make(&d, &before, &now);
	return &d;
}

/* Adds calls of 4 ms, 3 of them in one phase and 1 in another, with 1 MB received and 1 kB sent each. */
static inline void add_calls_of_4_ms(struct snapshot *to, const char *server, const char *op,
				     uint64_t calls, enum rpc_phase most, enum rpc_phase less)
{
	struct rpc_op *o = not_null(snapshot_op(&to->calls, server, op));

	assert_non_null(snapshot_server(&to->calls, server));
	histogram_record(&o->total, calls, 4 * MS);
	for (unsigned int p = 0; p < RPC_PHASES; p++)
		histogram_record(&o->phase[p], calls, p == most ? 3 * MS : p == less ? MS : 0);
	o->received_bytes += calls * 1048576;
	o->sent_bytes += calls * 1000;
}
