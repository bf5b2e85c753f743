// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes JSON to a stream, value by value. */
#include "base/json.h"

#include <math.h>

#include "base/safe_text.h"
#include "base/time_text.h"

static void begin_value(struct json *j, const char *name)
{
	if (j->comma)
		fputc(',', j->out);
	j->comma = true;
	if (name)
		fprintf(j->out, "\"%s\":", name);
}

void json_open(struct json *j, const char *name, char bracket)
{
	begin_value(j, name);
	fputc(bracket, j->out);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	fputc(bracket, j->out);
	j->comma = true;
}

void json_text(struct json *j, const char *name, const char *text)
{
	json_bytes(j, name, text, strlen(text));
}

void json_bytes(struct json *j, const char *name, const char *text, size_t len)
{
	uint32_t value;
	size_t n;

	begin_value(j, name);
	fputc('"', j->out);
	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = utf8_length(text + i, len - i);
		if (!n)
			fprintf(j->out, "\\" SAFE_ESCAPE, (unsigned char)text[i]);
		else if (text[i] == '"' || text[i] == '\\')
			fprintf(j->out, "\\%c", text[i]);
		else if (safe_length(text + i, n))
			fwrite(text + i, 1, n, j->out);
		else if ((value = utf8_value(text + i, n)) <= 0xffff)
			fprintf(j->out, "\\u%04x", value);
		else /* two units of UTF-16 */
			fprintf(j->out, "\\u%04x\\u%04x", 0xd7c0 + (value >> 10),
				0xdc00 | (value & 0x3ff));
	}
	fputc('"', j->out);
}

void json_bool(struct json *j, const char *name, bool value)
{
	begin_value(j, name);
	fputs(value ? "true" : "false", j->out);
}

void json_unsigned(struct json *j, const char *name, uint64_t value)
{
	begin_value(j, name);
	fprintf(j->out, "%" PRIu64, value);
}

void json_signed(struct json *j, const char *name, int64_t value)
{
	begin_value(j, name);
	fprintf(j->out, "%" PRId64, value);
}

void json_fraction(struct json *j, const char *name, double value, int digits)
{
	begin_value(j, name);
	fprintf(j->out, "%.*f", digits, isfinite(value) ? value : 0);
}

void json_nanoseconds(struct json *j, const char *name, uint64_t ns)
{
	begin_value(j, name);
	fprintf(j->out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void json_known(struct json *j, const char *name, const char *text)
{
	if (*text)
		json_text(j, name, text);
}

void json_time(struct json *j, const char *name, double seconds)
{
	char text[TIME_MILLISECONDS_SIZE];

	time_to_milliseconds(text, sizeof(text), seconds);
	json_text(j, name, text);
}

void json_whole_seconds(struct json *j, const char *name, double seconds)
{
	char text[TIME_TEXT_SIZE];

	time_to_text(text, sizeof(text), seconds);
	json_text(j, name, text);
}

void json_raw(struct json *j, const char *name, const char *value)
{
	begin_value(j, name);
	fputs(value, j->out);
}

void json_value_of(struct json *j, const char *name, const char *text, size_t len)
{
	begin_value(j, name);
	fwrite(text, 1, len, j->out);
}

void json_members(struct json *j, const char *members)
{
	if (*members)
		json_raw(j, NULL, members);
}

void json_newline(struct json *j)
{
	if (j->comma)
		fputc(',', j->out);
	j->comma = false;
	fputc('\n', j->out);
}
