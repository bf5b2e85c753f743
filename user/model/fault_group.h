/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults of one device and code. A snapshot has them apart by severity and
 * action; a series, a finding and a time are of all of them.
 */
#ifndef XIDSCOPE_FAULT_GROUP_H
#define XIDSCOPE_FAULT_GROUP_H

#include "model/snapshot.h"

struct fault_group {
	uint64_t count;
	uint64_t incidents;
	double last; /* 0: not known */
};

/* The first fault of @like's device and code from @f on, which points into the
 * snapshot's faults or to their end. NULL: none. */
struct fault *fault_group_next(const struct snapshot *s, struct fault *f, const struct fault *like);

/* Adds up the group of @f, one of the snapshot's faults. Returns whether @f is
 * its first. */
bool fault_group_sum(const struct snapshot *s, const struct fault *f, struct fault_group *g);

#endif
