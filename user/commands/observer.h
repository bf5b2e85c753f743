/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All hooks together, as the agent and the trace session use them.
 */
#ifndef XIDSCOPE_OBSERVER_H
#define XIDSCOPE_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/gpu_hooks.h"
#include "base/log.h"
#include "rpc/rpc_hooks.h"
#include "model/snapshot.h"
#include "sinks/event_log.h"

/* Which hooks are wanted. */
#define HOOKS_RPC 1u
#define HOOKS_GPU 2u

struct observer {
	const struct log *log;
	struct rpc_hooks *rpc; /* NULL: not wanted */
	struct gpu_hooks *gpu; /* NULL: not wanted, or failed */
	struct gpu_options gpu_options;
	struct event_log *events; /* takes the events of those; NULL: not wanted */
	bool gpu_wanted;
	uint64_t gpu_due_ns; /* when to poll those next */
	int modules; /* see module_events.h; negative: cannot be had */
	int epoll; /* of all descriptors */
};

/* Attaches what is there, sunrpc's hooks by one of @sources (see choice.h). @gpu is
 * copied, without its handler: events go to the file @events ("-": standard output;
 * NULL: none). Returns 0, also where a hook could not be attached and was reported
 * missing; -EPERM where nothing may be attached at all; -EBUSY where another
 * agent has the state file; -ENOMEM. observer_stop() in either case,
 * and also of one that is all zeros. */
int observer_start(struct observer *o, const struct log *log, unsigned int hooks,
		   unsigned int sources, const struct gpu_options *gpu, const char *events);
void observer_stop(struct observer *o);

/* Looks for what nothing tells. Returns after how many milliseconds to look
 * again. */
unsigned int observer_poll(struct observer *o);

/* Log files go on in new ones. */
void observer_reopen(struct observer *o);

/* Descriptor that becomes readable when messages wait; and their consumption,
 * in which sunrpc's hooks follow the module. */
int observer_fd(const struct observer *o);
void observer_consume(struct observer *o);

/* Fills @s, which must be empty. Returns 0 or -errno, with @s as far as it
 * came. */
int observer_snapshot(struct observer *o, struct snapshot *s);

#endif
