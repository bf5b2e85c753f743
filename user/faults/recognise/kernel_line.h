/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds in the kernel log what comes with GPU failures and is no Xid: failures
 * of the driver, a GPU's identity, evidence of recovery, and errors that other
 * drivers and the kernel itself report. Pure functions: no allocation, no state,
 * no I/O. Xids and SXids are found by xid/xid_line.h; a text may hold both.
 */
#ifndef XIDSCOPE_KERNEL_LINE_H
#define XIDSCOPE_KERNEL_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/label.h"

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

#endif
