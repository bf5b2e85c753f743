/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes hold a GPU's device file, /dev/nvidiaN, for faults whose process the driver does not name; and the
 * GPUs' UUIDs, which the driver prints only for a GPU that it has initialised.
 *
 * Another process looks. It is started at such a fault, and the caller waits for it for HELPER_WAIT_NS at most: the
 * driver's files in proc may wait for a lock of a driver that hangs. Links in /proc/PID/fd can be read whatever process PID
 * waits for; those of other users need CAP_SYS_PTRACE. */
#pragma once

#include "base/helper.h"

#define GPU_HOLDERS_SCAN_MS 200 /* the longest scan */
#define GPU_HOLDERS_GROUPS 8 /* the most control groups named for a GPU */

#define GPU_MAJOR 195 /* of the device files, in all releases of the driver */

#define GPU_UUID_SIZE 48

struct gpu_minor {
	char gpu[32]; /* PCI address, as the folders of the driver are named */
	unsigned int minor;
	char uuid[GPU_UUID_SIZE]; /* "": the driver has not initialised the GPU yet */
};

struct gpu_minors {
	size_t count;
	struct gpu_minor list[64];
};

/* Initialise with { .helper.pipe = -1 }. */
struct gpu_holders {
	struct gpu_minors minors; /* found earlier */
	struct helper helper; /* the process that looks; its text: see gpu_holders_scan() */
	char *found; /* the last answer */
};

/* Starts to look for the numbers and UUIDs of the GPUs, and does not wait. */
void gpu_holders_learn(struct gpu_holders *h);

/* Reads what a process has found, without waiting. */
void gpu_holders_poll(struct gpu_holders *h);

/* Returns members of a JSON object about who holds the GPU at the PCI address @gpu; "": not known. Valid until the next call. */
const char *gpu_holders_find(struct gpu_holders *h, const char *gpu);

/* The UUID of the GPU at the PCI address @gpu, if a process has found it; "": not known. Does not wait. Valid until the next call. */
const char *gpu_holders_uuid(struct gpu_holders *h, const char *gpu);

void gpu_holders_free(struct gpu_holders *h);

/* What the process does; @root is put before the paths, @major is that of the device files. Writes a line for each
 * GPU: its address, number, UUID or "-", and the members "held_by" (control groups), "holders_unread" (number of processes
 * whose files this process may not read) and "holders_incomplete" (if the time was up). @minors come first; those without
 * UUID are read again, and have another line. */
void gpu_holders_scan(const char *root, unsigned int major, const struct gpu_minors *minors,
		      FILE *out);

/* Reads the driver's file about the GPU @gpu, /proc/driver/nvidia/gpus/GPU/information, below
 * @root. False: it has no number. @uuid is "" where the driver shows none. */
bool gpu_information_read(const char *root, const char *gpu, unsigned int *minor,
			  char uuid[GPU_UUID_SIZE]);
