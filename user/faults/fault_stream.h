/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes one event of each fault, whichever and however many ways it is
 * reported on:
 *
 *   the kernel log, record by record: it shows who wrote a record, and is the
 *   source of all text;
 *   the printk hook: the same text, with the task that printed it. It replaces
 *   a record that the log has lost;
 *   the driver's own hooks: the fault without pid and process, which no other
 *   process can forge.
 *
 * Uses neither files nor BPF: callers pass in what they have read.
 */
#ifndef XIDSCOPE_FAULT_STREAM_H
#define XIDSCOPE_FAULT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/fault_events.h"
#include "faults/fault_pairs.h"
#include "faults/printk_queue.h"
#include "kernel/kmsg_record.h"

/* How long a message of the printk hook waits for its record. */
#define PRINTK_WAIT_NS (2 * 1000000000ull)

struct fault_stream {
	/* Set by the caller: */
	struct fault_events events; /* where all is counted; the caller's part of it */
	bool accept_user_kmsg; /* records that a process wrote count, too */
	int64_t log_offset_ns; /* from the log's clock to CLOCK_MONOTONIC */

	/* Its own: */
	struct fault_pairs pairs;
	struct printk_queue printk;
	uint64_t read_to_ns; /* time of the last record; 0: none was read */
	uint64_t forged_ns; /* when the last forged record was read */
	uint64_t unverified; /* messages of the printk hook that did not count:
			      * their records may have been forged, or there
			      * were too many */
};

/* A record of the kernel log, read at @now_ns (CLOCK_MONOTONIC). If it may hold
 * a fault, all messages of the printk hook must have been passed in before: the
 * hook runs before a record can be read. */
void fault_stream_record(struct fault_stream *s, const struct kmsg_record *record, const char *text,
			 uint64_t now_ns);

/* A message of the printk hook. */
void fault_stream_printk(struct fault_stream *s, const struct printk_event *event, uint64_t now_ns);

/* A fault that the driver's hook reported; only the members of the driver's
 * report need be set. */
void fault_stream_driver(struct fault_stream *s, const struct fault_report *report);

/* Ends the wait of what has waited long enough for its other report: it counts
 * alone. With @all, at the end, so does the rest, except for messages of the
 * printk hook whose records may still come: the next run reads those. */
void fault_stream_expire(struct fault_stream *s, uint64_t now_ns, bool all);

void fault_stream_free(struct fault_stream *s);

#endif
