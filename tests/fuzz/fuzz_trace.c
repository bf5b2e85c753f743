// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the binary trace buffer and the `format` files that describe its fields: whatever they contain,
 * records lie in the page, and numbers and texts in their record. */
#include "fuzz.h"
#include "kernel/trace.h"

static void read_fields(const struct trace_format *f, const void *data, size_t len)
{
	for (size_t i = 0; i < f->field_count; i++) {
		const char *name = f->fields[i].name, *text;
		size_t size = 0;

		require_string(f->fields[i].name);
		trace_number(f, data, len, name, 7);
		text = trace_string(f, data, len, name, &size);
		if (!text)
			continue;
		require(text >= (const char *)data && size <= len &&
			(size_t)(text - (const char *)data) <= len - size);
		require(!memchr(text, 0, size));
	}
	require(trace_number(f, data, len, "no such field", 7) == 7);
}

/* Two bytes: how long the format is; the rest is a page. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_record record;
	struct trace_format format;
	struct trace_page page;
	size_t len, rest;
	char *text, *bytes;
	int records = 0;

	if (size < 2)
		return 0;
	len = data[0] | (size_t)data[1] << 8;
	if (len > size - 2)
		len = size - 2;
	rest = size - 2 - len;
	text = copy_of(data + 2, len);
	bytes = copy_of(data + 2 + len, rest);
	require(trace_format_parse(&format, text, len) <= (format.field_count > 0));
	require(format.field_count <= TRACE_FIELDS);
	free(text);
	if (trace_page_open(&page, bytes, rest)) {
		while (trace_page_next(&page, &record)) {
			const char *at = record.data;
			char *exact;

			require(at >= bytes && record.len >= 8 && record.len <= rest &&
				(size_t)(at - bytes) <= rest - record.len);
			exact = copy_of(at, record.len);
			read_fields(&format, exact, record.len);
			free(exact);
			records++;
		}
		require((size_t)records <= rest / 8);
		require(!trace_page_next(&page, &record));
	} else {
		require(rest < 16);
	}
	free(bytes);
	return 0;
}
