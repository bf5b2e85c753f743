/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes one event of each fault, whichever and however many ways it is reported on:
 *
 *   the kernel log, record by record, is the source of all text;
 *   the printk hook has the same text, with the task that printed it and the
 *   origin of the call. It replaces a record that the log has lost;
 *   the driver's own hooks have the fault without pid and process.
 *
 * Users can make the kernel print text of theirs. So a text is a fault if the driver's code printed it; where the
 * origin is not known, if the driver also reports the fault; where the driver cannot be watched, if it looks like the
 * driver's. All other text counts as unverified.
 *
 * All times ending in _ns are CLOCK_MONOTONIC. */
#pragma once

#include "base/log.h"
#include "base/pci_address.h"
#include "faults/recognise/recognise.h"
#include "kernel/kernel_log.h"
#include "snapshot/self.h"

/* ---- the stream: uses neither files nor BPF, callers pass in what they have read ---- */

struct fault_stream;

/* Counts go to @events, which must outlive it. @accept_user_kmsg: records that a process wrote
 * count as the driver's. NULL: no memory. */
struct fault_stream *fault_stream_new(struct fault_events *events, bool accept_user_kmsg);
void fault_stream_free(struct fault_stream *s);

/* When a record was printed; the two clocks may differ, so sequence numbers decide. */
enum record_age {
	RECORD_BEFORE_START, /* of the program */
	RECORD_BEFORE_HOOK, /* no message of the printk hook is of this record */
	RECORD_NEW,
};

/* A record of the kernel log, read at @now_ns. If it may hold a fault (printk_marked()), all messages of the printk
 * hook must have been passed in before: the hook runs before a record can be read. */
void fault_stream_record(struct fault_stream *s, const struct kmsg_record *record, const char *text,
			 enum record_age age, uint64_t now_ns);

/* All that the log had until @ns has been read. */
void fault_stream_all_read(struct fault_stream *s, uint64_t ns);
/* The log is closed: messages no longer wait for records that were not read yet. */
void fault_stream_log_closed(struct fault_stream *s);
/* How much the clock of the log is behind CLOCK_MONOTONIC. */
void fault_stream_log_offset(struct fault_stream *s, int64_t ns);

struct fault_report {
	bool nvswitch;
	unsigned int code;
	char device[PCI_ADDRESS_SIZE];
	bool by_driver; /* false: by text */
	uint64_t arrived_ns; /* when it was read */
	bool pending; /* a text that is a fault only if the driver reports it, too ... */
	bool likely; /* ... or cannot have reported it, and the text looks like its own */
	uint64_t more; /* equal reports that wait with it: in a storm all of one
			* kind may be read before any of the other */
	/* Of the driver's report and of a pending text: */
	uint64_t time_ns; /* when it was made */
	char message[256]; /* the driver's message, or the text from its header on */
};

/* A fault that the driver's hook reported; only the members of the driver's report need be set. */
void fault_stream_report(struct fault_stream *s, const struct fault_report *report);

/* Whether the driver that is loaded reports each Xid. */
void fault_stream_reports_expected(struct fault_stream *s, bool expected);
/* Reports of the driver's hooks were lost until @ns. */
void fault_stream_reports_lost(struct fault_stream *s, uint64_t ns);

/* Ends the wait of what has waited long enough for its other report: it counts alone. With @all, at the end, so does
 * the rest, except for messages of the printk hook whose records may still come: the next run reads those. */
void fault_stream_expire(struct fault_stream *s, uint64_t now_ns, bool all);

/* Adds what was dropped because too much waited. */
void fault_stream_snapshot(const struct fault_stream *s, struct self *self);

/* ---- the printk hook: loads bpf/printk.bpf.c and passes its messages to a stream ---- */

struct printk_hook;

/* Loads and attaches, which may take seconds on a busy node. @log and @stream must outlive it.
 * @quiet: says nothing if that fails. Returns NULL with errno set. */
struct printk_hook *printk_hook_new(const struct log *log, bool quiet, struct fault_stream *stream);

/* The hook of the functions that follow may be NULL: then they do nothing. */
void printk_hook_free(struct printk_hook *h);

/* Readable when messages wait; -1: there is no hook. */
int printk_hook_fd(const struct printk_hook *h);

/* Passes on the messages that wait. */
void printk_hook_consume(struct printk_hook *h);

/* A module may have been loaded or unloaded. */
void printk_hook_modules_changed(struct printk_hook *h);

/* Whether the record with that sequence number was printed before the hook was attached. */
bool printk_hook_begins_after(struct printk_hook *h, uint64_t sequence);
/* All records from before that have been read. */
void printk_hook_all_read(struct printk_hook *h);

/* Prints a message, once, which shows by its stack whether the kernel shows who prints; if it cannot, says what is hidden. */
void printk_hook_ask(struct printk_hook *h);

/* Adds its state, messages that it has dropped, its programs and their memory. */
void printk_hook_snapshot(const struct printk_hook *h, struct self *self);

/* Whether a text has one of the marks that the printk hook looks for. */
bool printk_marked(const char *text, size_t len);

/* Loads the hook for a moment and prints a message: 1 if the tracepoint is called for each message by who prints it, 0 if by
 * the consoles, or if the kernel hides addresses or takes no message; -errno if it refuses the hook. */
int printk_hook_try(void);

/* Whether the kernel shows who calls printk: 0 or -errno; -EPERM: addresses are hidden. @root is
 * put before the paths. */
int printk_origins_shown(const char *root);
