/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the fields of a kernel trace event are in its binary record, from the
 * event's `format` file in tracefs. Pure functions.
 */
#ifndef XIDSCOPE_TRACE_FORMAT_H
#define XIDSCOPE_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_FIELDS 32 /* later ones are skipped; mce_record has 24 in Linux 7.2 */

struct trace_field {
	char name[32];
	uint32_t offset; /* bytes from the start of the record */
	uint32_t size; /* bytes */
	bool dynamic; /* instead of the value, the record holds length << 16 | offset */
	bool relative; /* dynamic, and the offset counts from the field's end */
};

struct trace_format {
	uint16_t id; /* common_type of the event's records */
	struct trace_field fields[TRACE_FIELDS];
	size_t field_count;
};

/* Reads a `format` file's @len bytes. False if it has no ID or no fields. */
bool trace_format_parse(struct trace_format *f, const char *text, size_t len);

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

#endif
