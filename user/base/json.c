// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes JSON to a stream, value by value. Only one thread uses it: a lock for each piece would be a quarter of the work. */
#include "base/json.h"

#include <math.h>

#include "base/safe_text.h"
#include "base/time_text.h"

static void begin_value(struct json *j, const char *name)
{
	if (j->comma)
		putc_unlocked(',', j->out);
	j->comma = true;
	if (!name)
		return;
	putc_unlocked('"', j->out);
	fputs_unlocked(name, j->out);
	fputs_unlocked("\":", j->out);
}

void json_open(struct json *j, const char *name, char bracket)
{
	begin_value(j, name);
	putc_unlocked(bracket, j->out);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	putc_unlocked(bracket, j->out);
	j->comma = true;
}

void json_text(struct json *j, const char *name, const char *text)
{
	json_bytes(j, name, text, strlen(text));
}

/* The bytes of a character that stands for itself, else 0. */
static size_t plain_length(const char *text, size_t len)
{
	return *text == '"' || *text == '\\' ? 0 : safe_length(text, len);
}

/* Writes one character, or one byte that belongs to none. Returns its length. */
static size_t write_escaped(FILE *out, const char *text, size_t len)
{
	size_t n = utf8_length(text, len);
	uint32_t value;

	if (!n)
		fprintf(out, "\\" SAFE_ESCAPE, (unsigned char)*text);
	else if (*text == '"' || *text == '\\')
		fprintf(out, "\\%c", *text);
	else if ((value = utf8_value(text, n)) <= 0xffff)
		fprintf(out, "\\u%04x", value);
	else /* two units of UTF-16 */
		fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (value >> 10), 0xdc00 | (value & 0x3ff));
	return n ? n : 1;
}

void json_bytes(struct json *j, const char *name, const char *text, size_t len)
{
	begin_value(j, name);
	putc_unlocked('"', j->out);
	for (size_t i = 0, plain = 0, n; i < len; plain = 0) {
		while (i + plain < len && (n = plain_length(text + i + plain, len - i - plain)))
			plain += n;
		fwrite_unlocked(text + i, 1, plain, j->out);
		i += plain;
		if (i < len)
			i += write_escaped(j->out, text + i, len - i);
	}
	putc_unlocked('"', j->out);
}

void json_bool(struct json *j, const char *name, bool value)
{
	begin_value(j, name);
	fputs_unlocked(value ? "true" : "false", j->out);
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
	json_text(j, name, UTC_TIME(seconds));
}

void json_raw(struct json *j, const char *name, const char *value, size_t len)
{
	begin_value(j, name);
	fwrite_unlocked(value, 1, len, j->out);
}

void json_members(struct json *j, const char *members)
{
	if (*members)
		json_raw(j, NULL, members, strlen(members));
}

void json_newline(struct json *j)
{
	if (j->comma)
		putc_unlocked(',', j->out);
	j->comma = false;
	putc_unlocked('\n', j->out);
}
