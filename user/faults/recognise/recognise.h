/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a line of the kernel log is, which job caused a fault, which faults and PCIe errors
 * belong together, and one event of each.
 */
#ifndef XIDSCOPE_RECOGNISE_H
#define XIDSCOPE_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/label.h"
#include "base/log.h"
#include "base/pci_address.h"
#include "faults/faults.h"
#include "snapshot/event.h"
#include "xid/xid_line.h"
#include "xid/xid_policy.h"

struct gpu_holders;

/*
 * ---- lines ----
 *
 * Finds in the kernel log what comes with GPU failures and is no Xid: failures
 * of the driver, a GPU's identity, evidence of recovery, and errors that other
 * drivers and the kernel itself report. Pure functions: no allocation, no state,
 * no I/O. Xids and SXids are found by xid/xid_line.h; a text may hold both.
 */

enum kernel_line_kind {
	KERNEL_LINE_NONE,
	KERNEL_LINE_GPU_UUID, /* device and uuid */
	KERNEL_LINE_GPU_SERIAL, /* serial; where device is "", of the GPU in the
				 * last KERNEL_LINE_GPU_UUID */
	KERNEL_LINE_GPU_RATE_LIMITED, /* the driver no longer prints all GSP errors of device */
	KERNEL_LINE_GPU_DRIVER, /* a failure of the GPU driver: name */
	KERNEL_LINE_RECOVERY, /* name: "driver_loaded" or "device_probed" */
	KERNEL_LINE_EVENT, /* something else: name */
};

/* What shows that nobody else printed such a line. */
enum kernel_line_proof {
	KERNEL_LINE_BY_DRIVER, /* that the driver printed it */
	KERNEL_LINE_FOR_PCI, /* that it was printed for the PCI device that it names */
	KERNEL_LINE_FOR_DEVICE, /* that it was printed for a device */
	KERNEL_LINE_BY_KERNEL, /* that it begins a record of the kernel */
};

struct kernel_line {
	enum kernel_line_kind kind;
	enum kernel_line_proof proof;
	const char *name; /* static: the label's value, "link_down"; "" if none */
	/* What it is about: a PCI address in the form of sysfs, "0000:c1:00.0", an
	 * NFS server, a network interface, an NVMe controller, a switch; "" if the
	 * line names none. Valid UTF-8, one word, cut to fit. */
	char device[LABEL_SIZE];
	char uuid[48]; /* "GPU-..." */
	char serial[24]; /* letters, digits, '-', '_' */
	/* The driver prints this line after that Xid, for the same fault: it counts
	 * only if that Xid did not come just before on the same device. 0: none. */
	unsigned int follows_xid;
	const char *severity; /* static: of a PCIe error, one of an Xid's; "" if the
			       * line has none */
	const char *text; /* the line from where it was recognised to its end */
	size_t text_len; /* bytes; points into the caller's text */
};

/*
 * Finds the next such line at or after text[*offset].
 *
 * text is one record of the log, perhaps with newlines; it holds len bytes as
 * they were logged (escapes of /dev/kmsg undone), needs no NUL and stays the
 * caller's. Start with *offset = 0 and call until false. Lines are recognised
 * from their beginning, after "[   12.345678] " if the console's prefix is
 * there; those of the GPU driver anywhere, because it prints continuations.
 *
 * Of a failure that takes several lines, one line is reported: the one with the
 * address if there is one. The lines may come as one text or as several.
 *
 * True: *out describes the line, *offset has grown. False: nothing is left,
 * out->kind is KERNEL_LINE_NONE, *offset is len.
 */
bool kernel_line_next(const char *text, size_t len, size_t *offset, struct kernel_line *out);

/* ---- causes ---- */

/*
 * A number for the job of the process @pid, 0 if @pid is not above 0. A job is a cgroup that
 * its user could not make: the path up to the first group that belongs to a user, or
 * that systemd has for all sessions of a user. A process that has ended, which is tried if
 * @ended is false, is a job of its own. @root is put before the paths.
 */
uint32_t fault_cause(const char *root, int pid, bool ended);

/*
 * ---- Xids and PCIe errors ----
 *
 * They belong together if they are on the same PCI device or its parent, and the Xid came
 * within ten minutes before or five minutes after the error.
 */

/* The window of Meta's study of its clusters' failures. */
#define XID_BEFORE_PCIE_NS (600 * 1000000000ull)
#define XID_AFTER_PCIE_NS (300 * 1000000000ull)

/* Reports of a device that are less apart count as one: a storm of corrected
 * errors must not displace the rest. */
#define PCIE_BURST_NS (5 * 1000000000ull)

#define PCIE_RELATIVES 64

/* The latest Xids and PCIe errors; the oldest is replaced first. */
struct pcie_relatives {
	struct pcie_relative {
		char device[PCI_ADDRESS_SIZE];
		char parent[PCI_ADDRESS_SIZE]; /* the bridge above it; "" if unknown */
		unsigned int xid; /* 0: a PCIe error */
		uint64_t time_ns; /* CLOCK_MONOTONIC, of the last of a burst */
	} list[PCIE_RELATIVES];
	size_t next; /* index of the next entry, modulo the size */
};

/*
 * Records an Xid (@xid > 0) or a PCIe error (0) of @device, and writes what
 * belongs to it as a member: "xids" for a PCIe error, "pcie_errors" for an Xid,
 * nothing if there is none. Each element has the device and how many seconds
 * before this one it was.
 */
void pcie_relatives_add(struct pcie_relatives *r, const char *device, unsigned int xid,
			uint64_t time_ns, struct json *j);

/*
 * ---- events ----
 *
 * Each fault and each other failure is counted and handed out as an event. Report each to
 * these functions once only.
 */

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
