// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads `format` files of tracefs: a line per field,
 *
 * 	field:__data_loc char[] msg;	offset:16;	size:4;	signed:0;
 *
 * (kernel: Documentation/trace/events.rst). */
#include "kernel/trace.h"

/* Reads the number after the first @label in the line. */
static bool number_after(struct span line, const char *label, uint32_t *number)
{
	uint64_t value;

	if (!span_take_through(&line, label) || !span_take_number(&line, 10, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* The last word, without a dimension: "char comm[16]", "u32 error_code". */
static struct span name_in(struct span declaration)
{
	const char *at = declaration.at, *end = declaration.end;
	const char *bracket = memchr(at, '[', (size_t)(end - at));
	const char *begin;

	/* "__data_loc char[] msg" has its brackets before the name. */
	if (bracket && !memchr(bracket, ' ', (size_t)(end - bracket)))
		end = bracket;
	for (begin = end; begin > at && begin[-1] != ' ' && begin[-1] != '*';)
		begin--;
	return (struct span){ begin, end };
}

bool trace_field_find(struct span format, const char *name, struct trace_field *field)
{
	struct span line, declaration;

	while (span_next_line(&format, &line)) {
		span_take_run(&line, " \t");
		if (!span_take(&line, "field:"))
			continue;
		declaration = span_take_until(&line, ";");
		if (!span_is(name_in(declaration), name))
			continue;
		field->dynamic = span_starts_with(declaration, "__data_loc ");
		return !span_starts_with(declaration, "__rel_loc ") &&
		       number_after(line, "offset:", &field->offset) &&
		       number_after(line, "size:", &field->size);
	}
	return false;
}
