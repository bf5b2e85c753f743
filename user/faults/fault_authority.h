/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who says that a fault happened: see fault_authority.c. Uses neither files nor BPF: callers pass what they have read. Times
 * ending in _ns are CLOCK_MONOTONIC. */
#pragma once

#include "faults/printk_origin.h"
#include "faults/recognise/recognise.h"
#include "kernel/kernel_log.h"
#include "printk.h"

struct fault_authority;

/* Counts go to @events, which must outlive it. @accept_user_kmsg: records that a process wrote count as the driver's.
 * @drain passes on all that the hook and the driver have reported until now. NULL: no memory. */
struct fault_authority *fault_authority_new(struct fault_events *events, bool accept_user_kmsg,
					    void (*drain)(void *context), void *context);
void fault_authority_free(struct fault_authority *a);

/* @known: since @ns the hook has all messages with their callers. Otherwise it no longer has. */
void fault_authority_hook(struct fault_authority *a, bool known, uint64_t ns);
/* @reports: since @ns the driver reports each Xid. Otherwise it no longer does. */
void fault_authority_driver(struct fault_authority *a, bool reports, uint64_t ns);
enum fault_authority_kind fault_authority_in_force(const struct fault_authority *a);

/* The authority @kind may have lost reports until @end_ns, of faults whose records are not yet read. */
void fault_authority_gap(struct fault_authority *a, enum fault_authority_kind kind,
			 uint64_t end_ns);

/* A message of the printk hook. */
void fault_authority_message(struct fault_authority *a, const struct printk_event *event,
			     enum printk_origin origin);

/* An Xid that the driver reports by its tracepoint. */
struct driver_report {
	unsigned int code;
	char device[PCI_ADDRESS_SIZE];
	uint64_t time_ns;
	char message[256];
};
void fault_authority_report(struct fault_authority *a, const struct driver_report *report);

/* When a record was printed, by sequence numbers, because the log has another clock. */
enum record_age {
	RECORD_BEFORE_START, /* of the program */
	RECORD_BEFORE_HOOK, /* the printk hook was not attached */
	RECORD_AT_HOOK, /* while the hook was being attached: it may have the message */
	RECORD_NEW,
};

/* A record of the kernel log, read at @now_ns. */
void fault_authority_record(struct fault_authority *a, const struct kmsg_record *record,
			    const char *text, enum record_age age, uint64_t now_ns);

/* All that the log had until @ns has been read. */
void fault_authority_all_read(struct fault_authority *a, uint64_t ns);
/* How far the clock of the log is behind CLOCK_MONOTONIC. */
void fault_authority_log_offset(struct fault_authority *a, int64_t ns);

/* Decides about texts for which the driver's report has not come in time; with @all, about all texts. */
void fault_authority_expire(struct fault_authority *a, uint64_t now_ns, bool all);

/* Whether further messages of the hook must wait until more records are read. Each message that is counted is noted until
 * its record is read, and notes are bounded. */
bool fault_authority_crowded(const struct fault_authority *a);

/* Whether the log has been read up to where the authority has counted: the counts are those of the records read. */
bool fault_authority_settled(const struct fault_authority *a);
