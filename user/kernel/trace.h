/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel trace events through tracefs (tracefs.c). */
#pragma once

#include "base/span.h"

enum tracefs_state {
	TRACEFS_ABSENT, /* the kernel has none */
	TRACEFS_UNMOUNTED,
	TRACEFS_EMPTY, /* mounted, and lockdown hides or refuses its files */
	TRACEFS_FORBIDDEN, /* mounted, and this process may not read it */
	TRACEFS_MOUNTED,
};

/* Looks at the two paths where tracefs is usually mounted, below @root ("" for the system itself). Writes to @path
 * (of @size bytes) where it is mounted, even if this process may not read it; "" if it is not mounted. */
enum tracefs_state tracefs_find(const char *root, char *path, size_t size);

/* Whether the tracefs there has this event, or group of events. */
bool tracefs_has_event(const char *path, const char *event);

/* Where a field of an event is in its binary record. */
struct trace_field {
	uint32_t offset; /* bytes from the start of the record */
	uint32_t size; /* bytes */
	bool dynamic; /* instead of the value, the record holds length << 16 | offset */
};

/* Finds the field @name in the text of the event's `format` file. False: it has none, or one of a form that no event here has (__rel_loc). */
bool trace_field_find(struct span format, const char *name, struct trace_field *field);
