/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happened between two snapshots of one observation.
 *
 * The agent and `trace` take a snapshot at the end of each interval. Its counters count from the start of the
 * observation; verdict, episodes, NFS watch and session need what each interval added. The difference is computed once
 * for all of them, so that they cannot disagree.
 *
 * A difference has the type of its entry: the entry at the end is copied, and the counters of the entry at the begin are
 * subtracted from it. Labels, details and gauges therefore are those at the end. Its file of fields says which are counters.
 *
 * Invariant: if nothing began again, the differences of all intervals add up to the last counter.
 *
 * A counter that fell has begun again, and its new value is the difference. Counters of one entry begin again together:
 * if one of them fell, the new values of all are their differences. Otherwise `calls` could be the 7 since a restart
 * while `seconds` were still the 300 - 290 across it, and the mean would be wrong. TCP's counters belong to the present
 * connection, which is replaced while the transport stays; they are a group of their own (FIELD_OWN_COUNTER).
 *
 * An entry that is new counts from 0. Exception: TCP's counters and the connects of a transport, which include what was
 * counted before it was first seen; their first difference is 0.
 *
 * A new source of calls begins all counters of calls again: 1,000 READs by one source and 1,200 by the next are 1,200 more.
 *
 * Example: calls 100 -> 130, retransmits 2 -> 2: differences 30, 0. calls 130 -> 7, retransmits 2 -> 1: 7, 1. */
#pragma once

#include "snapshot/snapshot.h"

/* Initialise with {}. */
struct delta {
	const struct snapshot *end; /* must live as long as the delta */
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	double begin; /* the same moment in seconds since the epoch; 0: not known */
	uint64_t ns; /* length; 0: no snapshot was at the begin, and there are no differences */
	uint64_t cpu_waiting_ns; /* time in which a task waited for a CPU; 0: none, or unknown */
	/* Calls, faults and kernel events, in the order of the snapshot at the end: all servers and transports, others only if they
	 * have changed. All else is in .end. */
	struct calls calls;
	struct fault_counts faults;
};

/* Fills @d, which must be empty; see memory_failed(). @begin is all zeros if there is no snapshot. */
void delta_make(struct delta *d, const struct snapshot *begin, const struct snapshot *end);
void delta_free(struct delta *d);
