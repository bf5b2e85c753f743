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
};

/* The snapshot owns its arrays; initialise with {}. */
void snapshot_free(struct snapshot *s);

/* What a count has grown by; 0 if it has fallen. */
static inline uint64_t counted_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* All faults of one device and code. In a snapshot they are separate entries if severity or action differ; a series,
 * a finding and a time are about all of them. */
struct fault_group {
	uint64_t count;
	uint64_t incidents;
	uint64_t recent;
	unsigned int boots; /* 0: it is no fatal Xid */
	double first; /* 0: not known */
	double last; /* 0: not known */
};

/* The first fault with the device and code of @like, from @f on; @f points to one of the
 * snapshot's faults or to their end. NULL: none. */
struct fault *fault_group_next(const struct snapshot *s, struct fault *f, const struct fault *like);

/* Sums up the group of @f, one of the snapshot's faults. Returns whether @f is the first of the group. */
bool fault_group_sum(const struct snapshot *s, const struct fault *f, struct fault_group *g);
