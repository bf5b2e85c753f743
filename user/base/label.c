// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Label values made of bytes from outside. */
#include "base/label.h"

#include <stdio.h>
#include <string.h>

size_t utf8_length(const char *text, size_t len)
{
	const unsigned char *b = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (!len)
		return 0;
	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xc2 && b[0] <= 0xdf)
		n = 2;
	else if (b[0] >= 0xe0 && b[0] <= 0xef)
		n = 3;
	else if (b[0] >= 0xf0 && b[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (len < n)
		return 0;
	/* The second byte's range excludes overlong forms and surrogates. */
	if (b[0] == 0xe0)
		low = 0xa0;
	else if (b[0] == 0xed)
		high = 0x9f;
	else if (b[0] == 0xf0)
		low = 0x90;
	else if (b[0] == 0xf4)
		high = 0x8f;
	if (b[1] < low || b[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (b[i] < 0x80 || b[i] > 0xbf)
			return 0;
	return n;
}

void label_from_bytes(char *label, size_t size, const char *bytes, size_t len)
{
	size_t used = 0, cut = 0, at = 0, n;
	char piece[8];

	while (at < len) {
		n = bytes[at] ? utf8_length(bytes + at, len - at) : 0;
		if (n) {
			memcpy(piece, bytes + at, n);
			at += n;
		} else {
			n = (size_t)snprintf(piece, sizeof(piece), "\\x%02x",
					     (unsigned char)bytes[at]);
			at++;
		}
		if (used + n >= size) {
			memcpy(label + cut, "...", 3);
			used = cut + 3;
			break;
		}
		memcpy(label + used, piece, n);
		used += n;
		/* Up to here "..." still fits. */
		if (used + sizeof("...") <= size)
			cut = used;
	}
	label[used] = 0;
}

void text_to_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

char *label_escape(char *out, const char *label)
{
	char c;

	while ((c = *label++)) {
		if (c == '\n' || c == '\\' || c == '"')
			*out++ = '\\';
		if (c == '\n')
			c = 'n';
		*out++ = c;
	}
	*out = 0;
	return out;
}
