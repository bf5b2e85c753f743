// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What parsers of text have in common. */
#include "base/span.h"

#include <string.h>

size_t span_left(struct span s)
{
	return (size_t)(s.end - s.at);
}

bool span_starts_with(struct span s, const char *literal)
{
	size_t len = strlen(literal);

	return span_left(s) >= len && memcmp(s.at, literal, len) == 0;
}

bool span_is(struct span s, const char *literal)
{
	return span_left(s) == strlen(literal) && span_starts_with(s, literal);
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

/* Locale-free. */
unsigned int span_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'Z')
		return (unsigned int)(c - 'A') + 10;
	return 36;
}

bool span_take_number(struct span *s, unsigned int base, uint32_t max, uint32_t *value)
{
	const char *p = s->at;
	uint64_t sum = 0;

	for (; p < s->end && span_digit(*p) < base; p++) {
		sum = sum * base + span_digit(*p);
		if (sum > max)
			return false;
	}
	if (p == s->at)
		return false;
	s->at = p;
	*value = (uint32_t)sum;
	return true;
}
