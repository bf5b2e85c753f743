/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of everything observed at one moment, in plain structs.
 *
 * Hooks fill it from maps and the kernel; sinks read it and use neither maps nor the kernel. */
#pragma once

#include "snapshot/calls.h"
#include "snapshot/fault_counts.h"
#include "snapshot/self.h"

struct snapshot {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	double wall; /* the same in seconds since the epoch; 0: not known */
	struct calls calls;
	struct fault_counts faults;
	struct self self;
	bool files_wanted; /* set by the caller: calls.files, see --files; not recorded */
};

/* The snapshot owns its arrays; initialise with {}. */
void snapshot_free(struct snapshot *s);

/* By how much a count has grown; 0 if it has fallen. */
static inline uint64_t counted_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* All faults of one device and code. In a snapshot they are separate entries if severity or action differ. Series,
 * findings and times belong to the whole group. */
struct fault_group {
	uint64_t count;
	uint64_t recent;
	unsigned int boots; /* in which it occurred; 0: it is no fatal Xid */
	double first; /* 0: not known */
	double last; /* 0: not known */
};

/* The first fault from @f on with the device and code of @like; NULL: none. @f points to a fault of the snapshot or to their end. */
struct fault *fault_group_next(const struct snapshot *s, struct fault *f, const struct fault *like);

/* Sums up the group of the snapshot's fault @f. Returns whether @f is the first of its group. */
bool fault_group_sum(const struct snapshot *s, const struct fault *f, struct fault_group *g);
