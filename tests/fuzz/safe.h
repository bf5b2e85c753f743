/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a text can do harm to a terminal: a reader of its own, by value, where user/base/safe_text.c goes by ranges
 * of bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"

/* The length of the UTF-8 character (RFC 3629), or 0, and its value. */
static inline size_t decoded_length(const unsigned char *b, size_t len, uint32_t *value)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n;

	if (!len)
		return 0;
	n = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
	if (!n || n > len)
		return 0;
	c = n == 1 ? b[0] : b[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (b[i] >> 6 != 2)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	*value = c;
	return c >= least[n] && c <= 0x10ffff && c >> 11 != 0x1b ? n : 0;
}

/* Controls, separators, bidirectional marks and isolates, what has no width, tags. */
static inline bool harms(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || (c >= 0x200b && c <= 0x200d) || c == 0x2060 ||
	       c == 0xfeff || c == 0xad || c >> 12 == 0xe0;
}

/* UTF-8 on one line, without any of those. */
static inline bool only_safe(const char *text, size_t len)
{
	uint32_t c;
	size_t n;

	for (; len; text += n, len -= n) {
		n = decoded_length((const unsigned char *)text, len, &c);
		if (!n || harms(c))
			return false;
	}
	return true;
}

/* A JSON object or array, of lines without any of those. */
static inline bool json_valid(const char *text, size_t len)
{
	const char *line = text, *end = text + len, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1)
		if (!only_safe(line, (size_t)(newline - line)))
			return false;
	return only_safe(line, (size_t)(end - line)) &&
	       json_read((struct span){ text, end }, NULL, NULL);
}
