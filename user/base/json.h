/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes JSON (RFC 8259) to a stream, value by value, with commas and escapes; nothing is truncated. The stream's
 * owner checks for errors, with ferror() or fclose(). Begin with { .out = stream }. */
#pragma once

#include "base/std.h"

struct json {
	FILE *out;
	bool comma; /* the next value needs a comma before it */
};

/* In all of these, @name is the member's name, which must need no escapes; NULL: an
 * element of an array, or the whole text. */
#define json_object(j, name) json_open(j, name, '{')
#define json_object_end(j) json_close(j, '}')
#define json_array(j, name) json_open(j, name, '[')
#define json_array_end(j) json_close(j, ']')
void json_open(struct json *j, const char *name, char bracket);
void json_close(struct json *j, char bracket);

/* Characters that are not safe (safe_text.h) are escaped, and read back as they are; bytes
 * that are not UTF-8 appear as \xNN text. */
void json_text(struct json *j, const char *name, const char *text);
void json_known(struct json *j, const char *name, const char *text); /* unless it is "" */
void json_bytes(struct json *j, const char *name, const char *text, size_t len);
void json_bool(struct json *j, const char *name, bool value);
void json_unsigned(struct json *j, const char *name, uint64_t value);
void json_signed(struct json *j, const char *name, int64_t value);
/* With @digits after the point; JSON has no number for a @value that is not finite: it becomes 0. */
void json_fraction(struct json *j, const char *name, double value, int digits);
/* Nanoseconds as seconds with nine digits after the point: exact. */
void json_nanoseconds(struct json *j, const char *name, uint64_t ns);

/* Seconds since the epoch, as "2026-11-21T10:00:00.123Z". */
void json_time(struct json *j, const char *name, double seconds);

/* The same in whole seconds, "2026-11-21T10:00:00Z". */
void json_whole_seconds(struct json *j, const char *name, double seconds);

/* Members that another writer has made without the braces around them; "" for none. */
void json_members(struct json *j, const char *members);

/* Begins a line, for people who read it. */
void json_newline(struct json *j);
