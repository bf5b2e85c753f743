/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source tracepoints: BPF programs on sunrpc's trace events (bpf/rpc_events.bpf.c), which
 * need not know its types.
 */
#ifndef XIDSCOPE_TRACEPOINTS_H
#define XIDSCOPE_TRACEPOINTS_H

#include "base/log.h"
#include "model/snapshot.h"

struct rpc_events;

/* Loads the programs and attaches them; sunrpc must be there, tracefs mounted
 * at @tracefs. What goes wrong is said in the log, @log, which must outlive it.
 * NULL with errno set if calls would not be recorded. */
struct rpc_events *rpc_events_new(const struct log *log, const char *tracefs);
void rpc_events_free(struct rpc_events *h);

/* Adds what the maps hold, and the hooks' own state, to @s. Returns 0 or
 * -errno. */
int rpc_events_snapshot(struct rpc_events *h, struct snapshot *s);

#endif
