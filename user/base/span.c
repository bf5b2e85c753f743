// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/span.h"

#include "base/safe_text.h"

struct span span_of(const char *text)
{
	return (struct span){ text, text + strlen(text) };
}

size_t span_left(struct span s)
{
	return (size_t)(s.end - s.at);
}

bool span_starts_with(struct span s, const char *literal)
{
	size_t len = strlen(literal);

	return span_left(s) >= len && memcmp(s.at, literal, len) == 0;
}

bool span_ends_with(struct span s, const char *literal)
{
	size_t len = strlen(literal);

	return span_left(s) >= len && !memcmp(s.end - len, literal, len);
}

bool span_is(struct span s, const char *literal)
{
	return span_left(s) == strlen(literal) && span_starts_with(s, literal);
}

bool span_equals(struct span a, struct span b)
{
	return span_left(a) == span_left(b) && (!span_left(a) || !memcmp(a.at, b.at, span_left(a)));
}

bool span_take(struct span *s, const char *literal)
{
	if (!span_starts_with(*s, literal))
		return false;
	s->at += strlen(literal);
	return true;
}

bool span_take_through(struct span *s, const char *literal)
{
	for (struct span rest = *s; rest.at < rest.end; rest.at++) {
		if (span_take(&rest, literal)) {
			*s = rest;
			return true;
		}
	}
	return false;
}

/* Does not depend on the locale. */
unsigned int span_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'Z' ? (unsigned int)(c - 'A') + 10 : 36;
}

bool span_take_number(struct span *s, unsigned int base, uint64_t max, uint64_t *value)
{
	const char *p = s->at;
	uint64_t sum = 0;

	for (; p < s->end && span_digit(*p) < base; p++) {
		unsigned int digit = span_digit(*p);

		if (digit > max || sum > (max - digit) / base)
			return false;
		sum = sum * base + digit;
	}
	if (p == s->at)
		return false;
	s->at = p;
	*value = sum;
	return true;
}

char span_take_byte(struct span *s, const char *mark, unsigned int base, size_t digits)
{
	struct span rest = *s, number;
	uint64_t byte;

	if (*s->at == '\\' && span_take(&rest, mark)) {
		number = span_cut(rest, digits);
		rest.at = number.end;
		if (span_left(number) == digits && span_take_number(&number, base, 0xff, &byte) &&
		    !span_left(number)) {
			*s = rest;
			return (char)byte;
		}
	}
	return *s->at++;
}

struct span span_take_line(struct span *s)
{
	const char *newline = span_left(*s) ? memchr(s->at, '\n', span_left(*s)) : NULL;
	struct span line = { s->at, newline ? newline : s->end };

	s->at = newline ? newline + 1 : s->end;
	return line;
}

bool span_next_line(struct span *s, struct span *line)
{
	bool left = span_left(*s);

	*line = span_take_line(s);
	return left;
}

/* The bytes up to the first that is in @set (@wanted true) or is not (false). */
static struct span take_up_to(struct span *s, const char *set, bool wanted)
{
	struct span taken = { s->at, s->at };

	while (taken.end < s->end && (*taken.end && strchr(set, *taken.end)) != wanted)
		taken.end++;
	s->at = taken.end;
	return taken;
}

struct span span_take_run(struct span *s, const char *set)
{
	return take_up_to(s, set, false);
}

struct span span_take_until(struct span *s, const char *set)
{
	return take_up_to(s, set, true);
}

struct span span_take_field(struct span *s, const char *separator)
{
	struct span field = span_take_until(s, separator);

	span_take(s, separator);
	return field;
}

struct span span_take_word(struct span *s)
{
	span_take_run(s, " \t");
	return span_take_until(s, " \t");
}

struct span span_cut(struct span s, size_t max)
{
	if (span_left(s) > max)
		s.end = s.at + max;
	return s;
}

bool span_number(struct span s, uint64_t max, uint64_t *value)
{
	return span_take_number(&s, 10, max, value) && !span_left(s);
}

bool span_copy(struct span s, char *to, size_t size)
{
	size_t len = span_left(s);

	if (len >= size || (len && memchr(s.at, 0, len)))
		return false;
	if (len)
		memcpy(to, s.at, len);
	to[len] = 0;
	return true;
}

#define BLANKS " \t\r"

bool fields_next(struct fields *f)
{
	struct span line, text, field;

	f->count = 0;
	while (!f->count && span_next_line(&f->rest, &line)) {
		f->line++;
		text = span_take_until(&line, "#");
		for (;; f->count++) {
			span_take_run(&text, BLANKS);
			field = span_take_until(&text, BLANKS);
			if (!span_left(field))
				break;
			if (f->count < MAX_FIELDS)
				f->field[f->count] = field;
		}
	}
	return f->count;
}

int fields_refuse(const struct fields *f, size_t n, const char *what)
{
	char shown[48];

	safe_copy(shown, sizeof(shown), f->field[n].at, span_left(f->field[n]), false, "...");
	snprintf(f->error, f->error_size, "line %u: '%s' %s", f->line, shown, what);
	return -EINVAL;
}
