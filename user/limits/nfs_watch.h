/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stalls of NFS, calls that fail and saturated limits, found in one snapshot after the other, with their begin and their end. The
 * limits are documented in docs/WHY.md. */
#pragma once

#include "limits/verdict.h"
#include "snapshot/fault_counts.h"

/* A stall: a call has waited for longer than this. */
#define NFS_STALL_NS (10 * 1000000000ull)

/* Saturation: tasks waited for a limit in at least the first share of an interval, on one of the server's transports.
 * It ends where the share falls below the second one, and stays there for NFS_QUIET_NS. */
#define NFS_SATURATED_SHARE 0.5
#define NFS_RELIEVED_SHARE 0.2

/* Errors and saturation end when they have not been seen for this time. */
#define NFS_QUIET_NS (60 * 1000000000ull)

/* After this, nfs_watch_errors() no longer names errors by which data were not written. */
#define NFS_LOST_NS (3600 * 1000000000ull)

/* Errors of state that go on for this time are more than the recovery after a restart of the server. */
#define NFS_RECOVERY_NS (60 * 1000000000ull)

#define NFS_WATCH_SPANS 512 /* at a time */

struct nfs_span {
	char server[LABEL_SIZE];
	enum event_kind kind; /* EVENT_KIND_NFS_STALL, ..._ERRORS or ..._SATURATION */
	const char *name; /* static: the oldest waiter's queue, what fails, or the limit */
	char text[VICTIMS_TEXT]; /* which calls fail, so far; whom a stall stops; else "" */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; the end: 0 while it lasts */
	uint64_t last_ns; /* end of the last interval that had it */
	char owner[LABEL_SIZE]; /* of the oldest or failed calls, or of most waits; "": not known */
};

typedef void nfs_span_handler(void *context, const struct nfs_span *span);

struct nfs_watch_entry;

/* Initialise with {}; at the end, free .entries. */
struct nfs_watch {
	struct nfs_watch_entry *entries;
	size_t count;
	uint64_t no_room; /* spans that were not reported, at each interval in which they lasted */
};

/* Looks at an interval (the first has no begin); calls @handle for what has begun, and again for what has ended. A stall that
 * lasts at the same moment in several queues of a server is one. */
void nfs_watch_add(struct nfs_watch *w, const struct delta *d, nfs_span_handler *handle,
		   void *context);

/* The span of errors or closings that lasts, or has lost data, from *@i on, which is moved behind it; NULL: there is none. */
const struct nfs_span *nfs_watch_errors(const struct nfs_watch *w, size_t *i);
