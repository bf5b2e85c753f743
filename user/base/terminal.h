/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines that fit a terminal, and its whole screen. */
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

/* The whole screen of a terminal, for a view that is drawn repeatedly. One at a time.
 *
 * The terminal is restored at every end that a process can handle: screen_end(), exit(), a signal that ends the process,
 * and each stop by ^Z until the process continues. ECMA-48 sequences that every terminal but TERM=dumb knows are enough; no
 * library and no terminal database is needed, which a static binary could not bring along. */

/* Whether standard input and output are a terminal that can place text. */
bool screen_possible(void);

/* Takes that terminal, unless it has. */
void screen_begin(void);
void screen_end(void);

/* Whether the screen must be drawn again: its size has changed, or it was left and taken again. True once for each. */
bool screen_changed(void);

/* Shows the first @rows lines of @text from the top of the screen; what is below them is cleared. */
void screen_write(const char *text, size_t rows);

/* Reads the next key without waiting: its byte, or one of these. */
enum { SCREEN_NO_KEY = 0, SCREEN_ESCAPE = 27, SCREEN_ERASE = 127, SCREEN_GONE = -1 };
int screen_key(void);
