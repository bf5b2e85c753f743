/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text with bytes from outside, for terminals, logs and labels. Characters that can change what a terminal or a page shows around
 * them are escaped. This is done where text is written: a forgotten check where it is read would be invisible. */
#pragma once

#include <stdarg.h>

#include "base/std.h"

/* Length in bytes of the UTF-8 character at @text (1..4, at most @len), by RFC 3629; 0: there is none. */
size_t utf8_length(const char *text, size_t len);

/* The code point of the character of @len bytes, which utf8_length() has found. */
uint32_t utf8_value(const char *text, size_t len);

/* As utf8_length(), but 0 also for unsafe characters: control characters, line and paragraph separators, and characters that
 * Unicode lists as ignorable for display, such as bidirectional marks and zero-width characters. */
size_t safe_length(const char *text, size_t len);

/* The escape of a byte that is not safe: "\xNN". */
#define SAFE_ESCAPE "\\x%02x"

/* Writes a line with its newline. Unsafe bytes in the formatted text are escaped, newlines included. */
void safe_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void safe_vline(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* The same to memory, without the newline. A text longer than @size, at least 8, is cut between characters and ends in "...". */
void safe_format(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void safe_vformat(char *to, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* The same for @len bytes. @mark ends a text that is cut; @size is at least 5 larger. @reversible: a backslash that would begin an
 * escape is escaped ("\x5c"), and different bytes give different texts unless they are cut. */
void safe_copy(char *to, size_t size, const char *bytes, size_t len, bool reversible,
	       const char *mark);

/* ---- label values made of bytes from outside, which may be any bytes ---- */

/* Room for the longest label value in this program, NUL included. */
#define LABEL_SIZE 192

/* The label of merged entries. */
#define LABEL_OTHER "other"

/* Makes a label of @len bytes. A byte that is not safe (safe_text.h), or that would begin such an escape, becomes "\xNN": different
 * bytes give different labels. A text that does not fit @size, which is at least 16, is cut between characters and ends in "..."
 * and a checksum of all bytes. Call it once for a value. */
void label_from_bytes(char *label, size_t size, const char *bytes, size_t len);

/* The same for a name in a table that may merge entries: the name "other" is escaped, to differ from LABEL_OTHER. */
void label_from_name(char *label, size_t size, const char *name, size_t len);

/* Makes one word of a text, with '_' in place of each blank. */
void text_join_words(char *text);

/* Room after a server's name for a port, brackets and a network namespace. */
#define LABEL_SERVER_ROOM 20

/* Appends the @port of a server to its name in a label of LABEL_SIZE: "nas:20127" or "[fd00::1]:20127". Two servers may have the
 * same address. The ports 0 (unknown), 2049 and, for RDMA, 20049 (RFC 8267) are omitted. */
void label_add_port(char *label, unsigned int port);

/* label_escape() turns one byte into at most this many. */
#define LABEL_ESCAPE_MAX 5

/* Writes a label value as both text formats require: backslash and quote are escaped (OpenMetrics 1.0, "escaped-string"), and bytes
 * that are not safe become "\\xNN". @out has room for LABEL_ESCAPE_MAX times @label and a NUL. Returns a pointer to the NUL. */
char *label_escape(char *out, const char *label);
