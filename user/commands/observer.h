/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All hooks together, as run, top and trace use them. */
#pragma once

#include "base/log.h"
#include "faults/fault_observer.h"
#include "snapshot/snapshot.h"
#include "rpc/rpc_observer.h"
#include "sinks/event_log.h"

/* Sets of hooks. */
#define HOOKS_RPC 1u
#define HOOKS_GPU 2u

struct observer {
	const struct log *log;
	struct rpc_observer *rpc; /* NULL: not wanted */
	uint64_t rpc_due_ns; /* when to look at sunrpc next */
	struct fault_observer *gpu; /* NULL: not wanted, or failed */
	struct fault_options fault_options;
	struct event_log *events; /* takes the events of @gpu, and others; NULL: not wanted */
	bool gpu_wanted;
	bool changed; /* a fault has been counted; the code that acts on it sets it to false */
	unsigned int sources; /* sources of calls that may be used: see rpc/choice.h */
	uint64_t gpu_due_ns; /* when to poll @gpu next */
	int modules; /* descriptor of module_events.h; negative: not available */
	int epoll; /* of all descriptors; readable when messages wait */
	uint64_t memory_failed; /* memory_failed() at the last snapshot */
	uint64_t object_bytes, other_bytes; /* kernel memory: maps and programs; the rest */
	uint64_t other_due_ns; /* when the rest is read again (CLOCK_MONOTONIC) */
};

/* Attaches the hooks that are available, sunrpc's by the options @rpc. @log and the file of @rpc must outlive the observer.
 * @gpu is copied, without its handler: events go to @events (NULL: none), which must outlive the observer. Returns 0 even if
 * a hook is missing, which is logged. On failure logs the reason and returns -EPERM if nothing may be attached, or -ENOMEM.
 * Call observer_stop() in any case, also for an observer of all zeros. */
int observer_start(struct observer *o, const struct log *log, unsigned int hooks,
		   const struct rpc_options *rpc, const struct fault_options *gpu,
		   const struct event_sink *events);
void observer_stop(struct observer *o);

/* Gives up the capabilities that the hooks will never need, except @others. Call it when all that needs more is done. */
void observer_drop_capabilities(const struct observer *o, uint64_t others);

/* Looks for changes that no descriptor reports. Returns the milliseconds until the next call. */
unsigned int observer_poll(struct observer *o);

/* Reads the messages for which @epoll is readable; also attaches sunrpc's hooks when the module is loaded. */
void observer_consume(struct observer *o);

/* Fills @s, which must be empty. Returns 0 or -errno; then @s is incomplete. -ENOMEM: since the last one something was not
 * counted. */
int observer_snapshot(struct observer *o, struct snapshot *s);

/* ---- loop.c: the one event loop: ticks, kernel messages, signals ---- */

struct loop_handler {
	void (*tick)(void *context); /* called every @interval seconds */
	/* Called when @fd is readable, and every second; NULL with @fd -1: never. */
	void (*serve)(void *context);
	int fd;
	/* Called about once a second, when all that was due has been done. NULL: not called. */
	void (*alive)(void *context);
	void *context;
	const bool *over; /* one of these sets it to end the loop; NULL: none does */
	void (*hangup)(void *context); /* called at SIGHUP; NULL: that ends the loop */
};

/* Blocks the signals that loop_run() handles: SIGTERM, SIGINT, SIGHUP. Call it before anything that takes time. */
void loop_block_signals(void);

/* Sets whether SIGTERM and SIGINT end the process immediately, or are blocked. A long start can be ended so: it has nothing to undo. */
void loop_end_at_once(bool at_once);

/* Runs until @duration seconds (0: no limit) have passed, or a signal ends it. @interval: s. Returns 0 or -errno. */
int loop_run(struct observer *o, double interval, double duration,
	     const struct loop_handler *handler);
