/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines that fit a terminal. */
#pragma once

#include "base/std.h"

#define TERMINAL_COLUMNS 80 /* of one that does not say */

struct terminal_size {
	size_t columns, rows; /* rows 0: not known */
};

/* Asks @fd. It may be resized at any time. False, and @size as it was: @fd is no terminal. */
bool terminal_ask(int fd, struct terminal_size *size);

/* Columns that a terminal shows of @len bytes; letters of every script count as one. */
size_t terminal_columns(const char *text, size_t len);

/* How many of the @len bytes fit @columns, in whole letters. */
size_t terminal_fit(const char *text, size_t len, size_t columns);

/* Writes a text that is safe to print (safe_text.h) in lines of at most @columns: the first after @first blanks, the
 * others after @indent. Words that are longer are cut. Writes no newline at the end. Returns the number of lines. */
size_t terminal_wrap(FILE *out, const char *text, size_t columns, size_t first, size_t indent);

/* safe_line(), but if @out is a terminal in lines that fit it, those behind the first after @indent blanks. */
void terminal_line(FILE *out, size_t indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
