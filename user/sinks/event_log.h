/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event log: a JSON object per line for each fault and each other event.
 * Repeats within a burst are folded, so that a storm does not fill a disk. Counters do
 * not depend on it: they count every event.
 */
#ifndef XIDSCOPE_EVENT_LOG_H
#define XIDSCOPE_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "model/event.h"

struct event_log;

/* @path "-" is standard output; with NULL nothing is written. @log must outlive
 * it. Returns NULL if there is no memory; a file that cannot be opened is
 * reported once and tried again with each line. */
struct event_log *event_log_new(const char *path, const struct log *log);
/* Writes the repeats that are still folded, and frees the log. */
void event_log_free(struct event_log *e);

/* Writes the event, or folds it into its burst. */
void event_log_add(struct event_log *e, const struct event *event);

/* Writes the repeats of bursts that are over, or of all if @all. */
void event_log_flush(struct event_log *e, uint64_t now_ns, bool all);

/* Opens the file again, after it was renamed. */
void event_log_reopen(struct event_log *e);

/* Lines that could not be written. */
uint64_t event_log_lost(const struct event_log *e);

#endif
