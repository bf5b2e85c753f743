// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads `format` files of tracefs: after "ID: N" a line per field,
 *
 *	field:__data_loc char[] msg;	offset:16;	size:4;	signed:0;
 *
 * (kernel: Documentation/trace/events.rst).
 */
#include "kernel/trace_format.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *at, const char *end, const char *literal)
{
	size_t len = strlen(literal);

	return (size_t)(end - at) >= len && !memcmp(at, literal, len);
}

/* The number after @label in the line; false if it is not there. */
static bool number_after(const char *at, const char *end, const char *label, uint32_t *number)
{
	uint64_t value = 0;
	const char *digits;

	at = memmem(at, (size_t)(end - at), label, strlen(label));
	if (!at)
		return false;
	at += strlen(label);
	for (digits = at; at < end && *at >= '0' && *at <= '9'; at++) {
		value = value * 10 + (uint64_t)(*at - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return at > digits;
}

/* "char comm[16]" and "u32 error_code": the name is the last word, without a
 * dimension. */
static void copy_name(char *to, size_t size, const char *at, const char *end)
{
	const char *bracket = memchr(at, '[', (size_t)(end - at));
	const char *begin;
	size_t len;

	/* "__data_loc char[] msg" has its brackets before the name. */
	if (bracket && !memchr(bracket, ' ', (size_t)(end - bracket)))
		end = bracket;
	for (begin = end; begin > at && begin[-1] != ' ' && begin[-1] != '*';)
		begin--;
	len = (size_t)(end - begin);
	if (len >= size)
		len = size - 1;
	memcpy(to, begin, len);
	to[len] = 0;
}

static void parse_field(struct trace_format *f, const char *at, const char *end)
{
	struct trace_field field = {};
	const char *semicolon = memchr(at, ';', (size_t)(end - at));

	if (!semicolon || f->field_count == TRACE_FIELDS ||
	    !number_after(semicolon, end, "offset:", &field.offset) ||
	    !number_after(semicolon, end, "size:", &field.size))
		return;
	field.relative = begins(at, end, "__rel_loc ");
	field.dynamic = field.relative || begins(at, end, "__data_loc ");
	copy_name(field.name, sizeof(field.name), at, semicolon);
	f->fields[f->field_count++] = field;
}

bool trace_format_parse(struct trace_format *f, const char *text, size_t len)
{
	const char *end = text + len, *line, *next;
	bool has_id = false;
	uint32_t id;

	*f = (struct trace_format){};
	for (line = text; line < end; line = next) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *stop = newline ? newline : end;

		next = newline ? newline + 1 : end;
		while (line < stop && (*line == '\t' || *line == ' '))
			line++;
		if (begins(line, stop, "ID:") && number_after(line, stop, "ID: ", &id) &&
		    id <= UINT16_MAX) {
			f->id = (uint16_t)id;
			has_id = true;
		} else if (begins(line, stop, "field:")) {
			parse_field(f, line + strlen("field:"), stop);
		}
	}
	return has_id && f->field_count;
}

const struct trace_field *trace_field_find(const struct trace_format *f, const char *name)
{
	for (size_t i = 0; i < f->field_count; i++)
		if (!strcmp(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}

static const struct trace_field *find(const struct trace_format *f, const char *name, size_t len)
{
	const struct trace_field *field = trace_field_find(f, name);

	return field && field->offset <= len && field->size <= len - field->offset ? field : NULL;
}

uint64_t trace_number(const struct trace_format *f, const void *record, size_t len,
		      const char *name, uint64_t missing)
{
	const struct trace_field *field = find(f, name, len);
	const unsigned char *at = record;
	uint64_t value = 0;
	uint32_t half;
	uint16_t quarter;

	if (!field)
		return missing;
	at += field->offset;
	switch (field->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&quarter, at, sizeof(quarter));
		return quarter;
	case 4:
		memcpy(&half, at, sizeof(half));
		return half;
	case 8:
		memcpy(&value, at, sizeof(value));
		return value;
	}
	return missing;
}

const char *trace_string(const struct trace_format *f, const void *record, size_t len,
			 const char *name, size_t *size)
{
	const struct trace_field *field = find(f, name, len);
	const char *begin = record;
	uint32_t place, offset;

	if (!field)
		return NULL;
	offset = field->offset;
	*size = field->size;
	if (field->dynamic) {
		if (field->size != sizeof(place))
			return NULL;
		memcpy(&place, begin + field->offset, sizeof(place));
		offset = place & 0xffff;
		*size = place >> 16;
		if (field->relative)
			offset += field->offset + field->size;
		if (offset > len || *size > len - offset)
			return NULL;
	}
	*size = strnlen(begin + offset, *size);
	return begin + offset;
}
