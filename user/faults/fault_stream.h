/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes one event of each fault, whichever and however many ways it is
 * reported on:
 *
 *   the kernel log, record by record: it tells who wrote a record, and is the
 *   source of all text;
 *   the printk hook: the same text, with the task and CPU it was printed by.
 *   It stands in for a record that the log has lost;
 *   the driver's own hooks: the fault without pid and process, which no other
 *   process can forge.
 *
 * Knows neither files nor BPF: callers hand in what they have read.
 */
#ifndef XIDSCOPE_FAULT_STREAM_H
#define XIDSCOPE_FAULT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sinks/event_log.h"
#include "faults/fault_pairs.h"
#include "faults/faults.h"
#include "kernel/kmsg_record.h"
#include "faults/pcie_relatives.h"
#include "printk.h"
#include "xid/xid_policy.h"

/* How long a message of the printk hook waits for its record. */
#define PRINTK_WAIT_NS (2 * 1000000000ull)
#define MAX_PRINTK_WAITING 2048 /* twice what the hook's buffer holds */

/* Signals that a tracepoint reports too: their text counts only where the
 * tracepoint was not yet watched. */
enum watched_signal {
	SIGNAL_XID,
	SIGNAL_SXID,
	SIGNAL_PCIE_AER,
	SIGNAL_MCE,
	SIGNAL_OOM_KILL,
	SIGNAL_HUNG_TASK,
	SIGNALS,
};

struct fault_stream {
	/* Set by the caller: */
	struct faults *faults;
	struct event_log *events;
	const struct xid_policy *policy;
	const struct log *log;
	bool accept_user_kmsg; /* records that a process wrote count, too */
	uint64_t started_ns; /* CLOCK_MONOTONIC: what is older is replayed */
	uint64_t hook_since_ns[SIGNALS]; /* UINT64_MAX: not watched */
	double wall_offset; /* seconds from CLOCK_MONOTONIC to the epoch */
	int64_t log_offset_ns; /* from the log's clock to CLOCK_MONOTONIC */

	/* Its own: */
	struct fault_pairs pairs;
	struct pcie_relatives relatives;
	struct printk_waiting {
		uint64_t arrived_ns;
		struct printk_event *event;
	} * printk;
	size_t printk_count;
	uint64_t read_to_ns; /* time of the last record */
	uint64_t forged_ns; /* when the last forged record was read */
	uint64_t unverified; /* messages that the printk hook saw and that did
			      * not count: their records may have been forged,
			      * or there were too many */
	char last_gpu[PCI_ADDRESS_SIZE]; /* of the identity line before this one */
};

/* Whether a text has one of the marks that the printk hook looks for. */
bool fault_stream_marked(const char *text, size_t len);

/* A record of the kernel log, read at @now_ns (CLOCK_MONOTONIC). If it may hold
 * a fault, all messages of the printk hook must have been handed in before: the
 * hook runs before a record can be read. */
void fault_stream_record(struct fault_stream *s, const struct kmsg_record *record, const char *text,
			 uint64_t now_ns);

/* A message that the printk hook saw. */
void fault_stream_printk(struct fault_stream *s, const struct printk_event *event, uint64_t now_ns);

/* A fault that the driver's hook reported; only what fault_report says of the
 * driver's need be set. */
void fault_stream_driver(struct fault_stream *s, const struct fault_report *report);

/* Something else that happened, as a tracepoint of the kernel reports it.
 * @severity, @comm and @text may be NULL. */
struct signal_report {
	const char *kind; /* static */
	const char *device; /* "" if none */
	const char *severity; /* a word as of an Xid's */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int pid; /* -1: none */
	const char *comm;
	const char *text; /* not terminated */
	size_t text_len;
};
void fault_stream_signal(struct fault_stream *s, const struct signal_report *report);

/* What has waited for its twin long enough stands alone. With @all, at the end,
 * so does the rest, save messages of the printk hook whose records may be still
 * to come: those are for whoever reads the log next. */
void fault_stream_expire(struct fault_stream *s, uint64_t now_ns, bool all);

/* Whether something waits, so that expire must be called again. */
bool fault_stream_waits(const struct fault_stream *s);

void fault_stream_free(struct fault_stream *s);

#endif
