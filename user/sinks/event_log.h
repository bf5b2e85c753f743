/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event log: a JSON object per line for each fault and each other event. Repeats within a burst are folded, so
 * that a storm does not fill a disk. Counters do not depend on it: they count every event. */
#pragma once

#include "base/log.h"
#include "snapshot/event.h"

struct event_log;

/* Where the lines go. */
struct event_sink {
	bool pipe; /* a line has at most PIPE_BUF bytes */
	/* Takes a line, with its newline. Returns false if it is lost. */
	bool (*write)(void *context, const char *line, size_t size);
	void *context;
	/* Gets a message for each line about a fault of a GPU that is more than information, where nobody may read the
	 * lines; NULL: none. */
	const struct log *log;
};

/* @sink must outlive it; NULL: nothing is written. Returns NULL if there is no memory. */
struct event_log *event_log_new(const struct event_sink *sink);
/* Writes the repeats that are still folded, and frees the log. */
void event_log_free(struct event_log *e);

/* Writes the event, or folds it into its burst. */
void event_log_add(struct event_log *e, const struct event *event);

/* Writes the repeats of bursts that are over, or of all if @all. */
void event_log_flush(struct event_log *e, uint64_t now_ns, bool all);

/* Lines that were lost. */
uint64_t event_log_lost(const struct event_log *e);
