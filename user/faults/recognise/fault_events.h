/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts each fault and each other failure that was recognised, and hands out
 * an event of it. Each must be reported to these functions once only.
 */
#ifndef XIDSCOPE_FAULT_EVENTS_H
#define XIDSCOPE_FAULT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pci_address.h"
#include "faults/faults.h"
#include "faults/gpu_holders.h"
#include "faults/recognise/kernel_line.h"
#include "faults/recognise/pcie_relatives.h"
#include "snapshot/event.h"
#include "xid/xid_line.h"
#include "xid/xid_policy.h"

/* What a hook or tracepoint reports too. The text of the others counts only if
 * it is from before the tracepoint was enabled. */
enum fault_signal {
	SIGNAL_XID,
	SIGNAL_SXID,
	SIGNAL_PCIE_AER,
	SIGNAL_MCE,
	SIGNAL_OOM_KILL,
	SIGNAL_HUNG_TASK,
	SIGNALS,
};

struct fault_events {
	/* Set by the caller: */
	struct faults *faults;
	event_handler *handle;
	void *context; /* of @handle */
	const struct xid_policy *policy;
	const struct log *log;
	uint64_t started_ns; /* CLOCK_MONOTONIC: what is older is replayed */
	uint64_t enabled_ns[SIGNALS]; /* when each one's hook was enabled; UINT64_MAX: it is not */
	uint64_t uevents_ns; /* since when uevents report recoveries; UINT64_MAX: they do not */
	struct clock_offsets clocks;
	struct gpu_holders *holders; /* NULL: who holds a GPU is not asked for */

	/* Its own: */
	struct pcie_relatives relatives;
	char last_gpu[PCI_ADDRESS_SIZE]; /* of the identity line before this one */
};

/* How a fault was reported. */
struct fault_origin {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	const char *path; /* static: "text" or "driver" */
	const char *printed_by; /* the task that printed the text; NULL: unknown */
	int printed_pid; /* of that task */
};

/* A fault, by @line, which was read from @text. The caller counts its path. */
void fault_events_add_fault(struct fault_events *e, const struct xid_line *line,
			    const struct fault_origin *origin, const char *text, size_t len);

/* A text that reads like a fault but may be anybody's. */
void fault_events_add_unverified(struct fault_events *e, const struct xid_line *line,
				 const struct fault_origin *origin, const char *text, size_t len);

/* What happened besides faults, by a tracepoint or a line of the kernel log. */
struct fault_signal_report {
	bool gpu_driver; /* a failure of the GPU driver */
	const char *kind; /* static */
	const char *device; /* "" if none */
	const char *severity; /* one of an Xid's; NULL: unknown */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int pid; /* -1: none */
	const char *comm; /* NULL: unknown */
	const char *text; /* not terminated; NULL: none */
	size_t text_len;
};
void fault_events_add_signal(struct fault_events *e, const struct fault_signal_report *signal);

/* A line of the kernel log that is no fault: a failure, the identity of a GPU,
 * evidence of recovery. */
void fault_events_add_line(struct fault_events *e, uint64_t time_ns,
			   const struct kernel_line *line);

/* Evidence of recovery by the kernel's own report: the driver was loaded, or the
 * device at the PCI address @gpu ("" for the driver) was found. It happened between
 * @after_ns and @by_ns (CLOCK_MONOTONIC); a fault later than @after_ns may have come
 * after it, so it stays open. */
void fault_events_add_recovery(struct fault_events *e, const char *gpu, const char *evidence,
			       uint64_t after_ns, uint64_t by_ns);

#endif
