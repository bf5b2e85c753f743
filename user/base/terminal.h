/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines that fit a terminal. */
#pragma once

#include "base/std.h"

#define TERMINAL_COLUMNS 80 /* if a terminal does not report its width */

struct terminal_size {
	size_t columns, rows; /* rows 0: not known */
};

/* Asks @fd for its size, which may change at any time. False: @fd is not a terminal, and *@size is unchanged. */
bool terminal_ask(int fd, struct terminal_size *size);

/* Whether the user wants colours (NO_COLOR), and the terminal may have them. */
bool terminal_has_colours(void);

/* Columns that a terminal shows of @len bytes; letters of every script count as one. */
size_t terminal_columns(const char *text, size_t len);

/* How many of the @len bytes fit @columns, in whole letters. */
size_t terminal_fit(const char *text, size_t len, size_t columns);

/* Writes safe text (safe_text.h) in lines of at most @columns: the first after @first blanks, the others after @indent. Longer words
 * are cut. Writes no newline at the end. Returns the number of lines. */
size_t terminal_wrap(FILE *out, const char *text, size_t columns, size_t first, size_t indent);

/* As safe_line(), but wraps lines if @out is a terminal; all but the first begin with @indent blanks. */
void terminal_line(FILE *out, size_t indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
