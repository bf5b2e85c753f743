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

#define DIGITS "0123456789"
#define REPLACEMENT 0xfffdu

static void skip_blanks(struct span *s)
{
	span_take_run(s, " \t\r\n");
}

static bool skip_escape(struct span *s)
{
	struct span digits;

	if (!span_take(s, "u"))
		return span_left(*s) && strchr("\"\\/bfnrt", *s->at) && *s->at++;
	digits = span_cut(*s, 4);
	s->at = digits.end;
	return span_left(span_take_run(&digits, "0123456789abcdefABCDEF")) == 4;
}

static bool skip_text(struct span *s)
{
	if (!span_take(s, "\""))
		return false;
	while (span_left(*s)) {
		unsigned char c = (unsigned char)*s->at++;

		if (c == '"')
			return true;
		if (c < ' ' || (c == '\\' && !skip_escape(s)))
			return false;
	}
	return false;
}

static bool skip_number(struct span *s)
{
	span_take(s, "-");
	if (!span_take(s, "0") && !span_left(span_take_run(s, DIGITS)))
		return false;
	if (span_take(s, ".") && !span_left(span_take_run(s, DIGITS)))
		return false;
	if (!span_take(s, "e") && !span_take(s, "E"))
		return true;
	if (!span_take(s, "-"))
		span_take(s, "+");
	return span_left(span_take_run(s, DIGITS));
}

static bool skip_list(struct span *s, int depth, json_handler *handle, void *context);

/* The recursion is at most JSON_DEPTH deep. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool skip_value(struct span *s, int depth)
{
	if (!span_left(*s))
		return false;
	switch (*s->at) {
	case '{':
	case '[':
		return depth > 0 && skip_list(s, depth - 1, NULL, NULL);
	case '"':
		return skip_text(s);
	case 't':
		return span_take(s, "true");
	case 'f':
		return span_take(s, "false");
	case 'n':
		return span_take(s, "null");
	default:
		return skip_number(s);
	}
}

/* One member or element, with the blanks around it. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool skip_item(struct span *s, bool named, int depth, json_handler *handle, void *context)
{
	struct span name = { s->at, s->at }, value;

	skip_blanks(s);
	if (named) {
		name.at = s->at + 1;
		if (!skip_text(s))
			return false;
		name.end = s->at - 1;
		skip_blanks(s);
		if (!span_take(s, ":"))
			return false;
		skip_blanks(s);
	}
	value.at = s->at;
	if (!skip_value(s, depth))
		return false;
	value.end = s->at;
	if (handle)
		handle(context, name, value);
	skip_blanks(s);
	return true;
}

/* An object or an array. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool skip_list(struct span *s, int depth, json_handler *handle, void *context)
{
	bool named = span_take(s, "{");
	const char *end = named ? "}" : "]";

	if (!named && !span_take(s, "["))
		return false;
	skip_blanks(s);
	if (span_take(s, end))
		return true;
	do
		if (!skip_item(s, named, depth, handle, context))
			return false;
	while (span_take(s, ","));
	return span_take(s, end);
}

bool json_read(struct span text, json_handler *handle, void *context)
{
	skip_blanks(&text);
	if (!skip_list(&text, JSON_DEPTH - 1, handle, context))
		return false;
	skip_blanks(&text);
	return !span_left(text);
}

bool json_inside(struct span value, struct span *inside)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are bytes */
	if (span_left(value) < 2 || *value.at != '"' || value.end[-1] != '"')
		return false;
	*inside = (struct span){ value.at + 1, value.end - 1 };
	return true;
}

/* ---- texts ---- */

static bool take_unit(struct span *s, uint32_t *unit)
{
	struct span digits;
	uint64_t value;

	if (span_left(*s) < 6 || !span_take(s, "\\u"))
		return false;
	digits = (struct span){ s->at, s->at + 4 };
	s->at += 4;
	*unit = REPLACEMENT;
	if (span_take_number(&digits, 16, 0xffff, &value) && !span_left(digits))
		*unit = (uint32_t)value;
	return true;
}

/* A character that is written as \u and four digits, or as two of them. */
static uint32_t take_character(struct span *s)
{
	uint32_t c = 0, low = 0;
	struct span rest;

	take_unit(s, &c);
	rest = *s;
	if (c >> 10 == 0x36 && take_unit(&rest, &low) && low >> 10 == 0x37) {
		*s = rest;
		return 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
	}
	return !c || c >> 11 == 0x1b ? REPLACEMENT : c;
}

static size_t encode_utf8(uint32_t c, char *to)
{
	static const unsigned char marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(marks[n] | c);
	return n;
}

/* The next character, or a byte that is none. Returns its length. */
static size_t take_one(struct span *s, char *to)
{
	static const char from[] = "bfnrt", meant[] = "\b\f\n\r\t";
	const char *escape;
	size_t n;

	if (*s->at != '\\' || span_left(*s) < 2) {
		n = utf8_length(s->at, span_left(*s)) ?: 1;
		memcpy(to, s->at, n);
		s->at += n;
		return n;
	}
	if (s->at[1] == 'u' && span_left(*s) >= 6)
		return encode_utf8(take_character(s), to);
	escape = strchr(from, s->at[1]);
	*to = s->at[1];
	if (escape && *escape)
		*to = meant[escape - from];
	s->at += 2;
	return 1;
}

void json_decode(struct span inside, char *to, size_t size)
{
	size_t used = 0, n;
	char one[4];

	while (span_left(inside)) {
		n = take_one(&inside, one);
		if (used + n >= size)
			break;
		memcpy(to + used, one, n);
		used += n;
	}
	to[used] = 0;
}

bool json_read_number(struct span value, double *number)
{
	struct span rest = value;
	char text[41];

	if (!skip_number(&rest) || span_left(rest) || !span_copy(value, text, sizeof(text)))
		return false;
	*number = strtod(text, NULL);
	return true;
}

/* ---- one member ---- */

struct wanted {
	const char *name;
	struct span value;
};

static void on_member(void *context, struct span name, struct span value)
{
	struct wanted *w = context;

	if (span_is(name, w->name))
		w->value = value;
}

struct span json_find(struct span text, const char *name)
{
	struct wanted w = { .name = name };

	return json_read(text, on_member, &w) ? w.value : (struct span){};
}

bool json_find_text(struct span text, const char *name, char *to, size_t size)
{
	struct span inside;
	bool found = json_inside(json_find(text, name), &inside);

	if (found)
		json_decode(inside, to, size);
	return found;
}
