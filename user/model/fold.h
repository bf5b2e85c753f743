/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts snapshots' entries together: to keep label sets within bounds, the
 * newest fold into "other"; and to go on counting where another has ended.
 */
#ifndef XIDSCOPE_FOLD_H
#define XIDSCOPE_FOLD_H

#include "model/snapshot.h"

/*
 * Bounds the label sets of each metric family by @max_series (at least 8; one
 * set "other" comes on top). The first come stay: entries keep their order from
 * snapshot to snapshot, so a series that was shown once stays, and none moves.
 * Counts what was folded as events_dropped{reason="max_series"}.
 */
void snapshot_fold(struct snapshot *s, size_t max_series);

/*
 * Adds to @s, which must hold no calls yet, the counters of the calls that
 * @past has counted; what it says of the state at its time is left out.
 * Returns 0 or -ENOMEM.
 */
int snapshot_add_calls(struct snapshot *s, const struct snapshot *past);

#endif
