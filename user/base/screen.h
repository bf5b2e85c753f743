/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The whole screen of a terminal, for a view that is drawn repeatedly. One at a time.
 *
 * The terminal is restored at every end that a process can handle: screen_end(), exit(), a signal that ends the process,
 * and each stop by ^Z until the process continues. ECMA-48 sequences that every terminal but TERM=dumb knows are enough; no
 * library and no terminal database is needed, which a static binary could not bring along. */
#pragma once

#include "base/terminal.h"

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
