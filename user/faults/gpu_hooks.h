/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything that detects faults: the kernel log, the printk hook, the driver's
 * hooks and the kernel's tracepoints that come with GPU failures, and the state
 * file. Each of them may be missing; the others go on.
 */
#ifndef XIDSCOPE_GPU_HOOKS_H
#define XIDSCOPE_GPU_HOOKS_H

#include <stdbool.h>

#include "base/log.h"
#include "faults/fault_state.h"
#include "snapshot/event.h"
#include "snapshot/snapshot.h"
#include "xid/xid_policy.h"

struct gpu_options {
	bool replay; /* count what the kernel log holds from before the start, too */
	bool holders; /* events name who holds a GPU, where the driver does not */
	bool accept_user_kmsg; /* count what processes wrote into it, too */
	const struct state_store *state; /* of the file that keeps the counts; NULL: none */
	double window; /* of repeats, seconds; 0: FAULT_RECENT_SECONDS */
	event_handler *handle; /* takes an event of each fault */
	void *context; /* of @handle */
	const struct xid_policy *policy;
};

struct gpu_hooks;

/* Attaches what is there, logs what is missing, and tries that again now and then; the
 * arguments must outlive it. Returns NULL with errno set: EPERM where nothing may be
 * observed, or another one. */
struct gpu_hooks *gpu_hooks_new(const struct log *log, const struct gpu_options *options);
/* Counts what is still pending, saves the counts, and detaches. */
void gpu_hooks_free(struct gpu_hooks *g);

/* Readable when there is something to consume. */
int gpu_hooks_fd(const struct gpu_hooks *g);

/* Reads all that is pending. */
void gpu_hooks_consume(struct gpu_hooks *g);

/* Call it every GPU_POLL_MS, for what no descriptor reports. */
#define GPU_POLL_MS 1000
void gpu_hooks_poll(struct gpu_hooks *g);

/* The state that was saved last could not be written. */
void gpu_hooks_state_lost(struct gpu_hooks *g);

/* Adds the counts and the hooks' state to @s; @g may be NULL. Returns 0 or
 * -ENOMEM. */
int gpu_hooks_snapshot(struct gpu_hooks *g, struct snapshot *s);

#endif
