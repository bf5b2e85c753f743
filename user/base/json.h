/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes JSON (RFC 8259) to a stream, value by value, and reads it. Commas and escapes are added, nothing is truncated. The owner of the stream
 * checks for errors with ferror() or fclose(). Begin with { .out = stream }. */
#pragma once

#include "base/span.h"
#include "base/std.h"

struct json {
	FILE *out;
	bool comma; /* the next value needs a comma before it */
};

/* @name is the member's name, which must need no escapes. NULL: an element of an array, or the whole text. */
#define json_object(j, name) json_open(j, name, '{')
#define json_object_end(j) json_close(j, '}')
#define json_row(j) (json_newline(j), json_object(j, NULL)) /* on a line of its own */
#define json_end(j) (json_object_end(j), putc('\n', (j)->out)) /* of the whole text */
#define json_array(j, name) json_open(j, name, '[')
#define json_array_end(j) json_close(j, ']')

/* An array @name with an object, on a line of its own, for each element @e that is @wanted. No break or return inside. */
#define JSON_ROWS(j, name, e, list, count, wanted)                                          \
	for (bool on_ = (json_array(j, name), true); on_; on_ = (json_array_end(j), false)) \
		ARRAY_EACH(e, list, count)                                                  \
			for (bool row_ = (wanted) && (json_row(j), true); row_;             \
			     row_ = (json_object_end(j), false))

void json_open(struct json *j, const char *name, char bracket);
void json_close(struct json *j, char bracket);

/* Unsafe characters (safe_text.h) are written as JSON escapes. Bytes that are not UTF-8 become the text \xNN. */
void json_text(struct json *j, const char *name, const char *text);
void json_known(struct json *j, const char *name, const char *text); /* nothing if @text is "" */
void json_bytes(struct json *j, const char *name, const char *text, size_t len);
void json_bool(struct json *j, const char *name, bool value);
void json_unsigned(struct json *j, const char *name, uint64_t value);
void json_signed(struct json *j, const char *name, int64_t value);
/* @digits: after the point. A value that is not finite becomes 0, because JSON has no such number. */
void json_fraction(struct json *j, const char *name, double value, int digits);
/* Nanoseconds as seconds with nine digits after the point: exact. */
void json_nanoseconds(struct json *j, const char *name, uint64_t ns);

/* Seconds since the epoch, as "2026-11-21T10:00:00.123Z". */
void json_time(struct json *j, const char *name, double seconds);

/* A value of @len bytes as it stands in JSON. */
void json_raw(struct json *j, const char *name, const char *value, size_t len);

/* Members that another writer has made, without braces; "": none. */
void json_members(struct json *j, const char *members);

/* Begins a line, so that people can read the text. */
void json_newline(struct json *j);

/* ---- reads JSON from untrusted bytes; pure functions ---- */

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
