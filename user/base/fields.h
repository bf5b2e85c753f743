/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that people write: lines of fields that are separated by blanks (space,
 * tab, carriage return); '#' begins a comment. Pure: no allocation, no I/O.
 */
#ifndef XIDSCOPE_FIELDS_H
#define XIDSCOPE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_FIELDS 4

struct field {
	const char *at; /* points into the caller's text; no NUL follows */
	size_t len;
};

struct fields {
	const char *at, *end; /* what is still to be read */
	unsigned int line; /* number of this line, from 1 */
	size_t count; /* fields in it, also those beyond MAX_FIELDS */
	struct field field[MAX_FIELDS];
};

/* @text holds @len bytes, needs no NUL and must outlive *@f. */
void fields_begin(struct fields *f, const char *text, size_t len);

/* Reads the next line that has a field. False: there is none. */
bool fields_next(struct fields *f);

bool field_is(const struct field *field, const char *word);

/* Decimal digits only, up to UINT_MAX. */
bool field_number(const struct field *field, unsigned int *number);

/* Copies it with a NUL. False: it does not fit @size, or holds a NUL. */
bool field_copy(const struct field *field, char *to, size_t size);

/* For messages: valid UTF-8 without control bytes, marked if cut. @size as for label_from_bytes(). */
void field_show(const struct field *field, char *to, size_t size);

#endif
