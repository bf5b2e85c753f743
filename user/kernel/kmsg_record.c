// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parser of a record of /dev/kmsg:
 *
 *	4,1339,5140900,c,caller=T77;NVRM: loading\x0a\n SUBSYSTEM=pci\n ...
 */
#include "kernel/kmsg_record.h"

#include <limits.h>
#include <string.h>

/* Reads a decimal number and the byte @after it. */
static bool take_number(const char **at, const char *end, uint64_t max, char after, uint64_t *value)
{
	const char *p = *at;
	uint64_t sum = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (sum > (max - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	if (p == *at || p == end || *p != after)
		return false;
	*at = p + 1;
	*value = sum;
	return true;
}

/* -1: not a digit. The kernel writes lower case. */
static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The byte at *at, which moves past it. */
static char take_byte(const char **at, const char *end)
{
	const char *p = *at;

	if (end - p >= 4 && p[0] == '\\' && p[1] == 'x' && hex_digit(p[2]) >= 0 &&
	    hex_digit(p[3]) >= 0) {
		*at += 4;
		return (char)(hex_digit(p[2]) << 4 | hex_digit(p[3]));
	}
	++*at;
	return *p;
}

/* The text's first byte; NULL if the header is malformed. */
static const char *read_header(const char *at, const char *end, struct kmsg_record *out)
{
	uint64_t priority;

	if (!take_number(&at, end, UINT_MAX, ',', &priority) ||
	    !take_number(&at, end, UINT64_MAX, ',', &out->sequence) ||
	    !take_number(&at, end, UINT64_MAX, ',', &out->time_us))
		return NULL;
	out->level = priority & 7;
	out->facility = (unsigned int)(priority >> 3);

	/* One flag, then fields that this parser does not know. */
	if (end - at < 2 || (at[1] != ',' && at[1] != ';'))
		return NULL;
	if (*at == ',' || *at == ';' || *at == '\n')
		return NULL;
	out->continued = *at == 'c' || *at == '+';
	for (at++; at < end && *at != ';'; at++) {
		if (*at == '\n')
			return NULL;
	}
	return at < end ? at + 1 : NULL;
}

bool kmsg_record_parse(const char *record, size_t len, struct kmsg_record *out, char *text,
		       size_t size)
{
	const char *at, *end, *newline;

	*out = (struct kmsg_record){};
	if (!len)
		return false;
	end = record + len;
	at = read_header(record, end, out);
	if (!at) {
		*out = (struct kmsg_record){};
		return false;
	}

	newline = memchr(at, '\n', (size_t)(end - at));
	if (newline)
		end = newline;
	while (at < end && out->text_len < size)
		text[out->text_len++] = take_byte(&at, end);
	out->cut = at < end;
	return true;
}
