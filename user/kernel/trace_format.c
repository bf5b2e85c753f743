// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads `format` files of tracefs: a line per field,
 *
 * 	field:__data_loc char[] msg;	offset:16;	size:4;	signed:0;
 *
 * (kernel: Documentation/trace/events.rst). */
#include "kernel/trace.h"

#include "base/file_text.h"
#include "base/span.h"

#define FORMAT_MAX (64 << 10) /* bytes */

/* Reads the number after the first @label in the line. */
static bool number_after(struct span line, const char *label, uint32_t *number)
{
	uint64_t value;

	if (!span_take_through(&line, label) || !span_take_number(&line, 10, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* The name is the last word, without a dimension: "char comm[16]", "u32 error_code". */
static void copy_name(struct span declaration, char *to, size_t size)
{
	const char *at = declaration.at, *end = declaration.end;
	const char *bracket = memchr(at, '[', (size_t)(end - at));
	const char *begin;

	/* "__data_loc char[] msg" has its brackets before the name. */
	if (bracket && !memchr(bracket, ' ', (size_t)(end - bracket)))
		end = bracket;
	for (begin = end; begin > at && begin[-1] != ' ' && begin[-1] != '*';)
		begin--;
	span_copy(span_cut((struct span){ begin, end }, size - 1), to, size);
}

static void parse_field(struct trace_format *f, struct span line)
{
	struct trace_field field = {};
	struct span declaration = span_take_until(&line, ";");

	if (f->field_count == TRACE_FIELDS || span_starts_with(declaration, "__rel_loc ") ||
	    !span_left(line) || !number_after(line, "offset:", &field.offset) ||
	    !number_after(line, "size:", &field.size))
		return;
	field.dynamic = span_starts_with(declaration, "__data_loc ");
	copy_name(declaration, field.name, sizeof(field.name));
	f->fields[f->field_count++] = field;
}

bool trace_format_parse(struct trace_format *f, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line;

	*f = (struct trace_format){};
	while (span_next_line(&rest, &line)) {
		span_take_run(&line, " \t");
		if (span_take(&line, "field:"))
			parse_field(f, line);
	}
	return f->field_count;
}

bool trace_format_read(struct trace_format *f, const char *tracefs, const char *system,
		       const char *event)
{
	FILE_TEXT file = {};

	return !file_text_read(&file, PATHF("%s/events/%s/%s/format", tracefs, system, event),
			       FORMAT_MAX) &&
	       trace_format_parse(f, file.bytes, file.len);
}

const struct trace_field *trace_field_find(const struct trace_format *f, const char *name)
{
	return ARRAY_FIND(x, f->fields, f->field_count, !strcmp(x->name, name));
}
