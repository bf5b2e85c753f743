/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that `xidscope trace` writes: JSON, page, recording. */
#pragma once

#include "commands/options.h"
#include "session/recording.h"
#include "session/session.h"

struct trace_files {
	const struct options *options;
	FILE *record; /* NULL: none, or it failed */
	struct recorder *recorder;
};

/* Begins the recording, made at @origin, and checks that the other files can be written. Returns 0, or -errno
 * after logging the reason; call trace_files_end() in either case. */
int trace_files_begin(struct trace_files *f, const struct options *options,
		      const struct session_origin *origin);

/* Records a snapshot. A failure is logged once and ends the recording, not the session. */
void trace_files_record(struct trace_files *f, const struct snapshot *s);

/* Ends the recording. */
void trace_files_end(struct trace_files *f);

/* Writes JSON and page of a session that has ended. Returns 0, or -errno after logging. */
int trace_files_write(const struct trace_files *f, const struct session *t);
