/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A text cursor: the part of a text that a parser still has to read. Pure functions; the text may hold any bytes and
 * needs no NUL.
 *
 * A span_take_ function that returns bool either moves past what it found, or returns false and leaves the span
 * unchanged. One that returns a span moves past that span, which may be empty. */
#pragma once

#include "base/std.h"

struct span {
	const char *at;
	const char *end;
};

struct span span_of(const char *text);
size_t span_left(struct span s); /* bytes */
bool span_starts_with(struct span s, const char *literal);
bool span_ends_with(struct span s, const char *literal);
bool span_is(struct span s, const char *literal);
bool span_equals(struct span a, struct span b);

bool span_take(struct span *s, const char *literal);

/* Moves past the first occurrence of @literal. */
bool span_take_through(struct span *s, const char *literal);

/* Takes a number of at least one digit and at most @max. @base is at most 36; letters may be in any case. */
bool span_take_number(struct span *s, unsigned int base, uint64_t max, uint64_t *value);

/* Takes a byte, of which there is one, or an escape: @mark, which begins with a backslash, and @digits digits of @base. */
char span_take_byte(struct span *s, const char *mark, unsigned int base, size_t digits);

/* Takes a line and its newline. Returns the line. */
struct span span_take_line(struct span *s);

/* The same. False: no text is left. */
bool span_next_line(struct span *s, struct span *line);

/* Take the next bytes that are in @set, or that are not in @set. */
struct span span_take_run(struct span *s, const char *set);
struct span span_take_until(struct span *s, const char *set);

/* Takes the bytes up to the one in @separator, or all, and moves past it. */
struct span span_take_field(struct span *s, const char *separator);

/* Takes the next word. Spaces and tabs separate words. Empty at the end. */
struct span span_take_word(struct span *s);

/* The first @max bytes, or all if there are fewer. */
struct span span_cut(struct span s, size_t max);

/* Whether all of it is one decimal number, at most @max. */
bool span_number(struct span s, uint64_t max, uint64_t *value);

/* Copies all of it and a NUL. False: it does not fit @size, or holds a NUL. */
bool span_copy(struct span s, char *to, size_t size);

/* The value of @c as a digit, 0 to 35; 36: it is no digit. */
unsigned int span_digit(char c);

/* ---- files that people write: lines of fields, separated by space, tab or carriage return; '#' begins a comment ---- */

#define MAX_FIELDS 4

/* Set .rest to the text before the first call; it must stay valid while fields are used. */
struct fields {
	struct span rest; /* still to be read */
	char *error; /* the caller's, for fields_refuse() */
	size_t error_size;
	unsigned int line; /* number of this line, from 1 */
	size_t count; /* fields in this line, also those beyond MAX_FIELDS */
	struct span field[MAX_FIELDS];
};

/* Reads the next line that has a field. False: there is none. */
bool fields_next(struct fields *f);

/* Writes "line N: 'FIELD' @what" about field @n to .error, as safe text. Returns -EINVAL. */
int fields_refuse(const struct fields *f, size_t n, const char *what);
