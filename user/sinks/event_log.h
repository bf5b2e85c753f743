/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event log: a line with a JSON object for each fault and each other event. Repetitions within a burst become one line, because a
 * storm must not fill the disk. Counters count every event. */
#pragma once

#include "base/log.h"
#include "snapshot/fault_counts.h"

struct event_log;

/* Where the lines go. */
struct event_sink {
	bool pipe; /* a line has at most PIPE_BUF bytes */
	/* Writes a line, which ends in a newline. Returns false if it is lost. */
	bool (*write)(void *context, const char *line, size_t size);
	void *context;
	/* Gets a message for each line about a GPU fault above severity info, for sites where nobody reads the lines; NULL: none. */
	const struct log *log;
};

/* @sink must outlive the log; NULL: nothing is written. Returns NULL without memory. */
struct event_log *event_log_new(const struct event_sink *sink);
/* Writes the repetitions that are not written yet, and frees the log. */
void event_log_free(struct event_log *e);

/* Writes the event, or counts it in its burst. */
void event_log_add(struct event_log *e, const struct event *event);

/* Writes the repetitions of bursts that are over; @all: of all bursts. */
void event_log_flush(struct event_log *e, uint64_t now_ns, bool all);

/* The number of lines that were lost. */
uint64_t event_log_lost(const struct event_log *e);
