/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel trace events through tracefs. */
#pragma once

#include "base/std.h"

/* ---- where tracefs is: also in trace_instance.c ---- */

enum tracefs_state {
	TRACEFS_ABSENT, /* the kernel has none */
	TRACEFS_UNMOUNTED,
	TRACEFS_EMPTY, /* mounted, and lockdown hides its files */
	TRACEFS_FORBIDDEN, /* mounted, and this process may not read it */
	TRACEFS_MOUNTED,
};

/* Looks at the two paths where tracefs is usually mounted, below @root ("" for the system itself). Writes to @path
 * (of @size bytes) where it is mounted, even if this process may not read it; "" if it is not mounted. */
enum tracefs_state tracefs_find(const char *root, char *path, size_t size);

/* ---- trace_format.c: where the fields of an event are in its binary record ---- */

#define TRACE_FIELDS \
	32 /* later ones are skipped, and those of a form that no event here has (__rel_loc) */

struct trace_field {
	char name[32];
	uint32_t offset; /* bytes from the start of the record */
	uint32_t size; /* bytes */
	bool dynamic; /* instead of the value, the record holds length << 16 | offset */
};

struct trace_format {
	uint16_t id; /* common_type of the event's records */
	struct trace_field fields[TRACE_FIELDS];
	size_t field_count;
};

/* Reads a `format` file's @len bytes. False if it has no ID or no fields. */
bool trace_format_parse(struct trace_format *f, const char *text, size_t len);

/* Reads the format of an event in the tracefs that is mounted at @tracefs. False also if there is none. */
bool trace_format_read(struct trace_format *f, const char *tracefs, const char *system,
		       const char *event);

/* Field @name, or NULL if the event has none. */
const struct trace_field *trace_field_find(const struct trace_format *f, const char *name);

/* The value of the number field @name in a record of @len bytes; @missing if the event
 * has no such field or the record is too short for it. */
uint64_t trace_number(const struct trace_format *f, const void *record, size_t len,
		      const char *name, uint64_t missing);

/* The value of the text field @name: *@size bytes inside the record, up to its NUL. NULL
 * if the event has no such field or the record is too short for it. */
const char *trace_string(const struct trace_format *f, const void *record, size_t len,
			 const char *name, size_t *size);

/* ---- trace_page.c: the records in a page that was read from a `trace_pipe_raw` file. Pure functions. ---- */

struct trace_page {
	const unsigned char *at; /* next event */
	const unsigned char *end;
	uint64_t time; /* of the event before it, ns of the trace clock */
	/* Records that were overwritten before this page; 1 if the kernel reports
	 * that there were some, but not how many. */
	uint64_t missed;
};

struct trace_record {
	uint64_t time; /* ns of the trace clock */
	const void *data;
	size_t len; /* bytes, with the padding to a multiple of four */
	uint16_t type; /* the event's ID */
};

/* @data stays the caller's. False if it is too short to be a page. */
bool trace_page_open(struct trace_page *p, const void *data, size_t len);

/* The next record; false at the end. */
bool trace_page_next(struct trace_page *p, struct trace_record *record);

/* ---- trace_instance.c: an event through a trace instance of xidscope's own ----
 *
 * BPF links and perf events prevent the module that defines an event from being unloaded; a trace instance does not. It
 * also needs no types, and does not disturb other tracers. */

struct trace_instance {
	char tracefs[64]; /* where it is mounted */
	char name[24]; /* "xidscope", "xidscope_2", ... */
	const char *system, *event;
	bool enabled;
	uint64_t since_ns; /* CLOCK_MONOTONIC, when the event was enabled */
	struct trace_format format; /* of the event */
	int pipe; /* readable when records wait; the instance cannot be removed while it is open */
	int *cpus; /* trace_pipe_raw of each CPU */
	size_t cpu_count;
	size_t page_size;
	unsigned char *page;
	uint64_t missed; /* records that were overwritten before they were read */
};

/* Makes the instance. The event is not enabled yet; its names must outlive it. Returns NULL with errno set if tracefs is not mounted
 * or this process may not write it. */
struct trace_instance *trace_instance_new(const char *system, const char *event);
/* Also removes it from tracefs. */
void trace_instance_free(struct trace_instance *t);

/* Enables the event if the kernel has it now; otherwise it is no longer enabled. */
void trace_instance_update(struct trace_instance *t);

/* Passes waiting records to @take, at most as many as the buffers hold. */
void trace_instance_consume(struct trace_instance *t,
			    void (*take)(void *context, const struct trace_record *record),
			    void *context);

/* Kernel memory of the buffers, in bytes, without that of the files: 9 MB in Linux 6.1, 0.8 MB in 6.12. */
uint64_t trace_instance_memory(const struct trace_instance *t);
