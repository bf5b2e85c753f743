/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who says that a fault happened: see fault_authority.c. Uses neither files nor BPF: callers pass what they have read. Times
 * ending in _ns are CLOCK_MONOTONIC. */
#pragma once

#include "base/log.h"
#include "faults/recognise/recognise.h"
#include "kernel/kernel_log.h"
#include "printk.h"
#include "snapshot/snapshot.h"

/* ---- printk_hook.c: who called printk ----
 *
 * The first function of a kernel stack that is beyond printk's own, and whether it is in a module of the NVIDIA driver. Only calls
 * by the driver prove a fault. */

enum printk_origin {
	PRINTK_ORIGIN_UNKNOWN, /* names are missing */
	PRINTK_ORIGIN_DRIVER,
	PRINTK_ORIGIN_PROCESS, /* it wrote to /dev/kmsg */
	PRINTK_ORIGIN_OTHER,
};

/* Whether a stack is that of the printing code: the first of printk's functions on it is the one that calls the tracepoint. */
bool printk_origin_shown(const struct printk_names *names);

/* The origin of a call. */
enum printk_origin printk_origin(const struct printk_names *names);

/* A number that changes whenever a module of the driver is loaded or unloaded; 0: none is loaded. @root is put before the paths. */
uint64_t printk_driver_modules(const char *root);

/* ---- fault_authority.c ---- */

#define MAX_PARTS 2048 /* beyond it the first part leaves */

/* Initialise with { .events, .accept_user_kmsg, .drain, .context }. */
struct fault_authority {
	struct fault_events *events; /* where all is counted */
	bool accept_user_kmsg; /* records that a process wrote count as the driver's */
	void (*drain)(void *context); /* passes on all that hook and driver have reported */
	void *context; /* of @drain */
	int64_t log_offset_ns; /* from the log's clock to CLOCK_MONOTONIC, as far as it is known; it drifts */

	/* Its own: */
	bool available[AUTHORITIES];
	enum fault_authority_kind in_force;
	uint64_t sure_ns; /* it has reported all since then: its begin, or the last gap's end */
	uint64_t all_read_ns; /* all that the log had until then has been read */

	/* What has come of lines of which something else may still come, in the order in which it was noted. */
	struct part {
		uint32_t line; /* a hash of the text, or of an Xid's device and code */
		enum part_kind {
			PART_COUNTED, /* its record may come */
			PART_BY_LOG, /* its record has counted, the driver's report may come */
			PART_REPORT, /* of the driver, not yet counted: its text may come */
			PART_TEXT, /* of an Xid, not yet counted: the driver's report may come */
		} kind;
		bool fits; /* it has the driver's form or report, and a saved state must wait for what comes of it */
		uint64_t time_ns, read_ns;
		char *text; /* owned; NULL: it has counted */
	} * parts;
	size_t part_count;
};

void fault_authority_free(struct fault_authority *a);

/* @available: @kind reports all faults since @ns (the hook has all messages with their callers, or the driver reports each
 * Xid); false: no longer. */
void fault_authority_offer(struct fault_authority *a, enum fault_authority_kind kind,
			   bool available, uint64_t ns);

/* The authority @kind may have lost reports until @end_ns, of faults whose records are not yet read. */
void fault_authority_gap(struct fault_authority *a, enum fault_authority_kind kind,
			 uint64_t end_ns);

void fault_authority_message(struct fault_authority *a, const struct printk_event *event,
			     enum printk_origin origin);

/* An Xid that the driver reports. */
struct driver_report {
	unsigned int code;
	char device[PCI_ADDRESS_SIZE];
	uint64_t time_ns;
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
/* Decides about texts and reports to which nothing else has come in time. UINT64_MAX: nothing else comes. */
void fault_authority_expire(struct fault_authority *a, uint64_t now_ns);

/* Whether further messages of the hook must wait until more records are read. Each message that is counted is kept until
 * its record is read, and there is room for so many. */
bool fault_authority_crowded(const struct fault_authority *a);

/* Whether the counts are those of the records that were read. */
bool fault_authority_settled(const struct fault_authority *a);

/* ---- printk_hook.c: the hook on the kernel's printk ---- */

struct printk_hook;

/* Loads and attaches, which may take seconds on a busy node. @log and @authority must outlive it. @quiet: a failure is not
 * logged. @epoll is readable when messages wait; -1: none. Returns NULL with errno set; ENOTSUP: the kernel does not show who
 * prints. */
struct printk_hook *printk_hook_new(const struct log *log, bool quiet,
				    struct fault_authority *authority, int epoll);

/* The following functions do nothing if @h is NULL. */
void printk_hook_free(struct printk_hook *h);

/* Passes on the messages that wait. */
void printk_hook_consume(struct printk_hook *h);

/* Finds out whether the kernel shows who prints, if need be by a line in the kernel log. 0: it does, or is not yet known
 * because no line could be printed. -ENOTSUP: it does not, and the hook proves nothing. */
int printk_hook_ask(struct printk_hook *h);

/* Whether the hook proves who prints, as far as is known: by a message, or else by the kernel's release. */
bool printk_hook_shows(const struct printk_hook *h);

/* Whether all kernels of this release show who prints. Some distributions' older ones do as well. @root is put before the path. */
bool printk_release_shows(const char *root);

/* Whether printk_hook_ask() has not yet been called, and no message has come. */
bool printk_hook_undecided(const struct printk_hook *h);

/* When the record with this sequence number was printed. Without a hook it is RECORD_NEW. */
enum record_age printk_hook_age(struct printk_hook *h, uint64_t sequence);

/* Adds messages that it has dropped, its programs and their memory. */
void printk_hook_snapshot(const struct printk_hook *h, struct self *self);

/* Whether a text has one of the marks that the hook looks for. */
bool printk_marked(const char *text, size_t len);

/* Loads the hook for a moment and prints a message. Returns -errno if the kernel refuses the hook. */
enum {
	PRINTK_NOT_SHOWN, /* who prints */
	PRINTK_SHOWN,
	PRINTK_NOT_ASKED, /* /dev/kmsg cannot be written, and the kernel's release decides nothing */
};
int printk_hook_try(void);
