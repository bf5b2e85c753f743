/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel trace events through a trace instance of xidscope's own in tracefs. It does not
 * prevent the module that defines an event from being unloaded, as BPF links and perf
 * events do; it needs no types, and does not disturb other tracers.
 */
#ifndef XIDSCOPE_TRACE_INSTANCE_H
#define XIDSCOPE_TRACE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "kernel/trace_format.h"
#include "kernel/trace_page.h"

struct trace_instance;

/* One event of the list for trace_instance_new(). */
struct trace_event {
	const char *system; /* NULL: a probe that is not defined yet */
	const char *name;
	/* Called for each record. */
	void (*handle)(void *context, const struct trace_event *event,
		       const struct trace_record *record);
	/* Set by the instance: */
	bool enabled;
	uint64_t since_ns; /* CLOCK_MONOTONIC, when it was enabled */
	struct trace_format format;
};

/*
 * Makes the instance. @events (@count of them, none enabled yet) and @context, which is
 * passed to their handlers, must outlive it. Returns NULL with errno set if tracefs is
 * not mounted or this process may not write it.
 */
struct trace_instance *trace_instance_new(struct trace_event *events, size_t count, void *context);
/* Removes it from tracefs, too. */
void trace_instance_free(struct trace_instance *t);

/*
 * How far the clock of the kernel log was behind CLOCK_MONOTONIC when the instance was
 * made. The log's clock is not adjusted, and drifts by up to seconds a day. False, with
 * offset 0, if it is not known.
 */
bool trace_instance_log_offset(const struct trace_instance *t, int64_t *offset_ns);

/* Readable when records wait. */
int trace_instance_fd(const struct trace_instance *t);

/* Whether the kernel has @event now. */
bool trace_instance_has(const struct trace_instance *t, const struct trace_event *event);

/* Enables @event if the kernel has it now, and marks it as disabled if not.
 * Returns whether it is enabled. */
bool trace_instance_update(struct trace_instance *t, struct trace_event *event);
void trace_instance_disable(struct trace_instance *t, struct trace_event *event);

/* Whether the kernel can probe functions. */
bool trace_instance_has_probes(const struct trace_instance *t);

/*
 * Defines the event @event as a probe on a kernel function, @definition in the
 * form of tracefs' kprobe_events after the event's name, e.g.
 * "nvidia:nv_report_error number=$arg2:u32". The module may be loaded later. Sets
 * @event->system to the instance's name. Returns 0 or -errno.
 */
int trace_instance_probe(struct trace_instance *t, struct trace_event *event,
			 const char *definition);

/* Passes waiting records to their events' handlers, at most as many as the buffers hold.
 * Returns how many. */
int trace_instance_consume(struct trace_instance *t);

/* Records that were overwritten before they were read. */
uint64_t trace_instance_missed(const struct trace_instance *t);
/* Kernel memory of the instance's buffers, in bytes. */
uint64_t trace_instance_memory(const struct trace_instance *t);

#endif
