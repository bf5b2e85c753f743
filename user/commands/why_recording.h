/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording of `trace` saw, as events of the past: for the time in which no agent watched. */
#pragma once

#include "past/history.h"

/* Initialise with {}. */
struct seen_by_trace {
	struct history events;
	double from, to; /* its first snapshot and its last; seconds since the epoch */
	char *text; /* what the events refer to */
	int damage; /* 0, or why the rest could not be read: see recording_next() */
};

/* Reads the recording @path. Returns 0 if it has a snapshot, or -errno. */
int seen_by_trace_read(struct seen_by_trace *s, const char *path);
void seen_by_trace_free(struct seen_by_trace *s);
