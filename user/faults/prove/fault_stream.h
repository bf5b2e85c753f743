/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes one event of each fault, whichever and however many ways it is
 * reported on:
 *
 *   the kernel log, record by record, is the source of all text;
 *   the printk hook has the same text, with the task that printed it and the
 *   origin of the call. It replaces a record that the log has lost;
 *   the driver's own hooks have the fault without pid and process.
 *
 * Users can make the kernel print text of theirs. So a text is a fault if the
 * driver's code printed it; where the origin is not known, if the driver reports
 * the fault, too; where the driver cannot be watched, if it looks like the
 * driver's. All other text counts as unverified.
 *
 * Uses neither files nor BPF: callers pass in what they have read.
 */
#ifndef XIDSCOPE_FAULT_STREAM_H
#define XIDSCOPE_FAULT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/recognise/fault_events.h"
#include "faults/prove/fault_pairs.h"
#include "faults/prove/printk_queue.h"
#include "faults/prove/provenance.h"
#include "kernel/kmsg_record.h"

/* How long a message of the printk hook waits for its record. */
#define PRINTK_WAIT_NS (2 * 1000000000ull)

struct fault_stream {
	/* Set by the caller: */
	struct fault_events events; /* where all is counted; the caller's part of it */
	bool accept_user_kmsg; /* records that a process wrote count, too */
	int64_t log_offset_ns; /* from the log's clock to CLOCK_MONOTONIC */
	/* Sequence numbers of the first record since events.started_ns, and of the first one that
	 * the printk hook has had; UINT64_MAX: there is none yet; 0: it is not known. */
	uint64_t first_record, first_message;
	/* CLOCK_MONOTONIC: */
	uint64_t all_read_ns; /* all that the log had until then has been read */
	uint64_t origins_ns; /* since when the origin of all printk calls is known;
			      * UINT64_MAX: it is not ... */
	uint64_t gap_ns; /* ... but of those up to then the hook may have lost some */
	bool reports_expected; /* the driver that is loaded reports each Xid */
	uint64_t reports_lost_ns; /* when the driver's hooks have lost reports, or gone */

	/* Its own: */
	struct fault_pairs pairs;
	struct printk_queue printk;
	uint64_t read_to_ns; /* time of the last record; 0: none was read */
	uint64_t crowded; /* messages of the printk hook that were removed because too
			   * many waited for their records, or there was no memory
			   * for them; ... */
	uint64_t others_crowded; /* ... of others than the driver */
};

/* A record of the kernel log, read at @now_ns (CLOCK_MONOTONIC). If it may hold
 * a fault, all messages of the printk hook must have been passed in before: the
 * hook runs before a record can be read. */
void fault_stream_record(struct fault_stream *s, const struct kmsg_record *record, const char *text,
			 uint64_t now_ns);

/* A message of the printk hook. */
void fault_stream_printk(struct fault_stream *s, const struct printk_event *event,
			 enum printk_origin origin, uint64_t now_ns);

/* A fault that the driver's hook reported; only the members of the driver's
 * report need be set. */
void fault_stream_driver(struct fault_stream *s, const struct fault_report *report);

/* Ends the wait of what has waited long enough for its other report: it counts
 * alone. With @all, at the end, so does the rest, except for messages of the
 * printk hook whose records may still come: the next run reads those. */
void fault_stream_expire(struct fault_stream *s, uint64_t now_ns, bool all);

void fault_stream_free(struct fault_stream *s);

#endif
