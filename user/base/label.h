/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Label values made of bytes from outside, which may be any bytes.
 */
#ifndef XIDSCOPE_LABEL_H
#define XIDSCOPE_LABEL_H

#include <stddef.h>

/* Room for the longest label value in this program, NUL included. */
#define LABEL_SIZE 192

/*
 * Length in bytes of the UTF-8 character at @text (1..4, at most @len), or 0 if there
 * is none. Overlong forms, surrogates and values above U+10FFFF do not count as
 * characters (RFC 3629, section 3).
 */
size_t utf8_length(const char *text, size_t len);

/*
 * Makes valid UTF-8 of @len bytes: a byte that is not UTF-8, and NUL, becomes "\xNN". A
 * text that does not fit @size (at least 8) is cut between characters and ends in
 * "..."; always NUL-terminated.
 */
void label_from_bytes(char *label, size_t size, const char *bytes, size_t len);

/* Replaces control bytes by '?', so that the text is one line. */
void text_to_one_line(char *text);

/* Writes a label value as both text formats require it: backslash, quote and
 * newline escaped (OpenMetrics 1.0, "escaped-string"). @out has room for twice
 * its length and a NUL. Returns a pointer to the NUL. */
char *label_escape(char *out, const char *label);

#endif
