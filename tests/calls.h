/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls in made-up snapshots. */
#pragma once

#include "snapshot/table.h"

/* As snapshot_owner_calls(). */
static inline struct calls_by *snapshot_mount_calls(struct calls *c, const char *server,
						    const char *export, const char *mountpoint)
{
	return table_get(TABLE_MOUNT_CALLS, c, (const void *[]){ server, export, mountpoint, "" });
}

/* Adds @calls that took @each_ns. */
static inline void histogram_record(struct time_histogram *h, uint64_t calls, uint64_t each_ns)
{
	h->bucket[histogram_index(each_ns, TIME_SHIFT, TIME_OVERFLOW)] += calls;
	h->sum_ns += calls * each_ns;
}

/* Adds one call, whose total is the sum of its phases: times of every magnitude, the same sequence for a seed. */
static inline void add_random_call(struct rpc_op *op, uint64_t *seed)
{
	uint64_t total = 0;

	for (int p = 0; p < RPC_PHASES; p++) {
		uint64_t ns;

		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		ns = (*seed >> 24) >> (*seed >> 18 & 63);
		histogram_record(&op->phase[p], 1, ns);
		total += ns;
	}
	histogram_record(&op->total, 1, total);
}
