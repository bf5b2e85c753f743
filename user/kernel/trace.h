/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel trace events through tracefs. */
#pragma once

#include "base/span.h"

/* ---- where tracefs is: also in trace_instance.c ---- */

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

/* ---- trace_format.c: where the fields of an event are in its binary record ---- */

struct trace_field {
	uint32_t offset; /* bytes from the start of the record */
	uint32_t size; /* bytes */
	bool dynamic; /* instead of the value, the record holds length << 16 | offset */
};

/* Finds the field @name in the text of the event's `format` file. False: it has none, or one of a form that no event here has (__rel_loc). */
bool trace_field_find(struct span format, const char *name, struct trace_field *field);

/* ---- trace_instance.c: an event through a trace instance of xidscope's own ----
 *
 * BPF links and perf events prevent the module that defines an event from being unloaded; a trace instance does not. It
 * also needs no types, and does not disturb other tracers. */

struct trace_instance {
	char tracefs[64]; /* where it is mounted */
	const char *name; /* "xidscope", "xidscope_2", ...; NULL: it is not made */
	const char *system, *event;
	bool enabled;
	uint64_t since_ns; /* CLOCK_MONOTONIC, when the event was enabled */
	int pipe; /* readable when events wait; the instance cannot be removed while it is open */
	uint64_t missed; /* events that were overwritten, or have another form */
};

/* Makes the instance. The event is not enabled yet; its names must outlive it. Returns NULL with errno set: ENOENT if tracefs is not
 * mounted, ENODATA if lockdown hides its files, or why this process may not write it. */
struct trace_instance *trace_instance_new(const char *system, const char *event);
/* Also removes it from tracefs. */
void trace_instance_free(struct trace_instance *t);

/* Enables the event if the kernel has it now; otherwise it is no longer enabled. */
void trace_instance_update(struct trace_instance *t);

/* Takes an event, as it prints itself, at @time_ns (CLOCK_MONOTONIC, whole microseconds). False: it has another form. */
typedef bool trace_handler(void *context, uint64_t time_ns, struct span text);

/* Passes the events that wait to @take, at most as many as the buffers hold. */
void trace_instance_consume(struct trace_instance *t, trace_handler *take, void *context);

/* Kernel memory of the buffers, in bytes, without that of the files. */
uint64_t trace_instance_memory(const struct trace_instance *t);
