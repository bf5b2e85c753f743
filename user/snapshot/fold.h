/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the label sets about calls within bounds: the newest fold into "other". Those of
 * faults have bounds of their own, faults/faults.h.
 */
#ifndef XIDSCOPE_FOLD_H
#define XIDSCOPE_FOLD_H

#include "snapshot/snapshot.h"

/*
 * Limits the label sets of each metric family about calls to @max_series (at least 8) and
 * one "other". The first entries stay: entries keep their order from snapshot to snapshot,
 * so a series that was shown once stays. Adds how many do not to s->folded_entries.
 */
void snapshot_fold(struct snapshot *s, size_t max_series);

#endif
