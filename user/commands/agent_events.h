/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the agent writes into the event log of itself and of NFS: that it starts, runs and
 * stops, stalls and saturated limits. `why` reads all of it.
 */
#ifndef XIDSCOPE_AGENT_EVENTS_H
#define XIDSCOPE_AGENT_EVENTS_H

#include <stdint.h>

#include "limits/nfs_watch.h"
#include "sinks/event_log.h"

/* Initialise with {} and @log, NULL for none. */
struct agent_events {
	struct event_log *log;
	struct nfs_watch nfs;
	uint64_t alive_ns; /* CLOCK_MONOTONIC: when the last line about the agent was written */
};

void agent_events_start(struct agent_events *a);
/* Writes that the agent runs, if that is due. */
void agent_events_alive(struct agent_events *a, uint64_t now_ns);
void agent_events_stop(struct agent_events *a);

/* Writes what begins or ends with this snapshot. @before: see nfs_watch_add(). */
void agent_events_add(struct agent_events *a, const struct snapshot *before,
		      const struct snapshot *s);

void agent_events_free(struct agent_events *a);

#endif
