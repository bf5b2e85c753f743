/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads JSON (RFC 8259) from untrusted bytes. Pure functions. */
#pragma once

#include "base/span.h"

/* The deepest nesting. Deeper values are refused. */
#define JSON_DEPTH 32

/* @name: the bytes between its quotes; empty for an element of an array. @value: its bytes, a text with its quotes. */
typedef void json_handler(void *context, struct span name, struct span value);

/* Calls @handle for each member of an object or element of an array. @text must be one such value, with blanks around it. False:
 * it is not; @handle may have been called for a part of it. */
bool json_read(struct span text, json_handler *handle, void *context);

/* The value of the member @name of such an object, or of the last element of an array, whose @name is "". Empty: there is none. */
struct span json_find(struct span text, const char *name);

/* The same for a text, as json_decode() writes it. False, and @to unchanged: there is none. */
bool json_find_text(struct span text, const char *name, char *to, size_t size);

/* The bytes between a text's quotes, with escapes. False: @value is not a text. */
bool json_inside(struct span value, struct span *inside);

/* Decodes such bytes to UTF-8, cut to @size with its NUL between characters. U+0000 and single surrogates become U+FFFD. */
void json_decode(struct span inside, char *to, size_t size);

/* False: not a number, or one of more than 40 bytes. */
bool json_read_number(struct span value, double *number);
