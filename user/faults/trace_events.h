/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace events that tell of faults: the NVIDIA driver's own, or a probe on
 * its report function where it has none, and those of the kernel that come with
 * GPU failures.
 */
#ifndef XIDSCOPE_TRACE_EVENTS_H
#define XIDSCOPE_TRACE_EVENTS_H

#include "faults/fault_stream.h"
#include "base/log.h"
#include "model/snapshot.h"

struct trace_events;

/* Watches what is there, and says what is not; what it sees goes to @stream.
 * Returns NULL after saying why if nothing can be watched. */
struct trace_events *trace_events_new(const struct log *log, struct fault_stream *stream);
void trace_events_free(struct trace_events *t);

int trace_events_fd(const struct trace_events *t);
void trace_events_consume(struct trace_events *t);

/* Looks for a driver that came or went, where the kernel does not tell of
 * modules. */
void trace_events_poll(struct trace_events *t);

/* Looks for the driver in any case. */
void trace_events_snapshot(struct trace_events *t, struct snapshot *s);

#endif
