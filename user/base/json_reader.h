/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads JSON (RFC 8259) from untrusted bytes. Pure functions. */
#pragma once

#include "base/span.h"

/* Values within values, at most. What is deeper is refused. */
#define JSON_DEPTH 32

/* @name: between its quotes, as it stands there; empty for an element of an array. @value: as
 * it stands there, a text with its quotes. */
typedef void json_handler(void *context, struct span name, struct span value);

/* Calls @handle for each member of an object, or element of an array, in @text, which must be one such value and
 * blanks. False: it is not; @handle may have been called before. */
bool json_read(struct span text, json_handler *handle, void *context);

/* The inside of a text's quotes, with its escapes. False: it is no text. */
bool json_inside(struct span value, struct span *inside);

/* Copies what such an inside stands for, in UTF-8 and with a NUL; cut to @size, between characters. Bytes that are
 * not UTF-8 stay. U+0000 and halves of characters become U+FFFD. */
void json_decode(struct span inside, char *to, size_t size);

/* False: it is no number, or one of more than 40 bytes. */
bool json_read_number(struct span value, double *number);
