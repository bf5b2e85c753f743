/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording keeps of a snapshot: a row for each member. Reading and writing both go
 * through these rows. A new row, or another order, is another version of the form: change
 * RECORDING_HEAD.
 */
#ifndef XIDSCOPE_RECORDING_TABLE_H
#define XIDSCOPE_RECORDING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

enum recorded_type {
	RECORDED_TEXT, /* char[count] with its NUL */
	RECORDED_NAME, /* const char *, NULL or static */
	RECORDED_U64, /* uint64_t[count] */
	RECORDED_U32, /* uint32_t[count], also enums and int */
	RECORDED_BOOL,
	RECORDED_DOUBLE,
	RECORDED_SIZE, /* size_t */
};

struct recorded_field {
	size_t offset; /* in the entry */
	enum recorded_type type;
	size_t count; /* elements; of a text: bytes */
};

/* An array of the snapshot. */
struct recorded_table {
	size_t array, entries; /* offsets of the array and its count in the snapshot */
	size_t size; /* of an entry */
	size_t max; /* entries that a recording may have */
	bool fixed; /* the array is in the snapshot itself; else allocated */
	const struct recorded_field *fields;
	size_t field_count;
};

/* The first table is the snapshot itself, one entry: then .entries is not used. */
extern const struct recorded_table recorded_tables[];
extern const size_t recorded_table_count;

/* Numbers that an entry of @t has. */
size_t recorded_words(const struct recorded_table *t);

/* How many entries of @t a snapshot has, and where they begin. */
size_t recorded_entries(const struct recorded_table *t, const struct snapshot *s);
char *recorded_array(const struct recorded_table *t, const struct snapshot *s);

#endif
