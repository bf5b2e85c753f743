/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All faults of one device and code. In a snapshot they are separate entries if severity or action differ; a series,
 * a finding and a time are about all of them. */
#ifndef XIDSCOPE_FAULT_GROUP_H
#define XIDSCOPE_FAULT_GROUP_H

#include "snapshot/snapshot.h"

struct fault_group {
	uint64_t count;
	uint64_t incidents;
	uint64_t recent;
	unsigned int boots; /* 0: it is no fatal Xid */
	double first; /* 0: not known */
	double last; /* likewise */
};

/* The first fault with the device and code of @like, from @f on; @f points to one of the
 * snapshot's faults or to their end. NULL: none. */
struct fault *fault_group_next(const struct snapshot *s, struct fault *f, const struct fault *like);

/* Sums up the group of @f, one of the snapshot's faults. Returns whether @f is the first of the group. */
bool fault_group_sum(const struct snapshot *s, const struct fault *f, struct fault_group *g);

#endif
