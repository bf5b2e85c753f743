/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace events that report faults: the NVIDIA driver's own, or a probe on
 * its report function where it has none, and those of the kernel that come with
 * GPU failures.
 */
#ifndef XIDSCOPE_TRACE_EVENTS_H
#define XIDSCOPE_TRACE_EVENTS_H

#include "base/log.h"
#include "faults/prove/fault_stream.h"
#include "snapshot/snapshot.h"

struct trace_events;

/* Enables the events that exist and logs what is missing; what they report goes
 * to @stream, which must outlive it. Returns NULL if no event can be used, after logging
 * the reason unless it is *@error, the errno of an earlier try (0: none), which it sets. */
struct trace_events *trace_events_new(const struct log *log, struct fault_stream *stream,
				      int *error);
void trace_events_free(struct trace_events *t);

/* Readable when records wait; and their consumption. */
int trace_events_fd(const struct trace_events *t);
void trace_events_consume(struct trace_events *t);

/* Checks whether the driver was loaded or unloaded, where the kernel does not
 * report that. */
void trace_events_poll(struct trace_events *t);

/* Adds the events' state, and checks for the driver in any case. */
void trace_events_snapshot(struct trace_events *t, struct snapshot *s);

#endif
