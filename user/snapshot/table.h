/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of a snapshot, a row for each: finding, adding, subtracting and recording entries work from
 * these rows. A field without a row fails tests/includes.py. */
#pragma once

#include "snapshot/snapshot.h"

enum field_type {
	FIELD_TEXT, /* char[count] with its NUL */
	FIELD_NAME, /* const char *, NULL or static */
	FIELD_U64, /* uint64_t[count] */
	FIELD_U32, /* uint32_t[count], also enums and int */
	FIELD_BOOL,
	FIELD_DOUBLE,
	FIELD_SIZE, /* size_t */
	FIELD_TIMES, /* struct time_histogram[]; count: uint64_t in all */
	FIELD_OTHER, /* bytes; never recorded */
};

/* The last column. */
enum field_role {
	FIELD_LABEL, /* names the entry; labels are an entry's first rows */
	FIELD_DETAIL, /* describes the entry */
	FIELD_COUNTER, /* grows, or begins again together with the entry's other counters */
	FIELD_OWN_COUNTER, /* the same, but it begins again with the other counters of this role, and before what was first seen */
	FIELD_GAUGE, /* a value at a moment */
};

struct field {
	size_t offset; /* in the entry */
	size_t size; /* bytes */
	size_t count; /* elements; of a text: bytes */
	size_t delta; /* offset of its difference in the entry of struct delta; 0: it has none */
	enum field_type type;
	enum field_role role;
	bool sums; /* of histograms, only the sums have a difference */
	bool left_out; /* of recordings */
};

/* An array of a part of the snapshot: of its struct calls, fault_counts or self. */
struct table {
	size_t part; /* its offset in the snapshot */
	size_t array, entries; /* offsets of the array and its count in the part */
	size_t size; /* of an entry */
	size_t max; /* entries that a recording may have; 0: the table is not recorded */
	bool fixed; /* the array is in the part itself; else allocated */
	const struct field *fields;
	size_t field_count;
	/* The same of the array in struct delta; its entries begin with a pointer to the entry at the end. 0: none. */
	size_t delta_array, delta_entries, delta_size;
	bool delta_all; /* entries without a difference as well, for their values at the end */
};

/* In the order in which they are recorded. */
enum table_id {
	TABLE_SNAPSHOT, /* the struct itself, as one entry: .entries is not used */
	TABLE_OPS,
	TABLE_ERRORS,
	TABLE_TRANSPORTS,
	TABLE_SERVERS,
	TABLE_MOUNTS,
	TABLE_MOUNT_CALLS,
	TABLE_OWNER_CALLS,
	TABLE_SLOW,
	TABLE_FAULTS,
	TABLE_KERNEL_EVENTS,
	TABLE_HOOKS,
	TABLE_DROPS,
	TABLE_EPISODES,
	TABLE_STORAGES,
	TABLE_GPUS,
	TABLE_UNVERIFIED,
	TABLE_RECOVERIES,
	TABLE_HEALTH,
	TABLE_FINDINGS,
	TABLE_PROGRAMS,
	TABLE_STUCK,
	TABLE_MODULES,
	TABLES,
};

extern const struct table tables[TABLES];

/* How many entries of @t its @part has, and where they begin. */
size_t table_count(const struct table *t, const void *part);
char *table_array(const struct table *t, const void *part);

/* Frees the allocated arrays of the part of the snapshot at this offset. */
void table_free_part(void *part, size_t offset);

/* The entry with the labels of the entry @like, or NULL. @at: its place in its own array, where it mostly is as well. */
void *table_like(const struct table *t, const void *part, const void *like, size_t at);

/* The entry with these labels, or a new one of zeros. NULL: no memory. @labels: a text, or a pointer to a number, for each
 * label. A text that does not fit is cut. */
void *table_get(const struct table *t, void *part, const void *const *labels);

/* The same with the labels of the entry @like. */
void *table_get_labels(const struct table *t, void *part, const void *like);

/* The same, and a new one has all of @like that is no figure. */
void *table_get_like(const struct table *t, void *part, const void *like);

/* Whether a number that has a difference is another one; @role: whether one of this role fell. */
bool table_changed(const struct table *t, const enum field_role *role, const void *now,
		   const void *then);

/* Writes the differences of an entry to the entry @to of struct delta. @then: the same one at the begin, or NULL. */
void table_subtract(const struct table *t, void *to, const void *now, const void *then);

/* ---- codec.c: a snapshot as bytes, for recordings ---- */

/* Initialise with {}; free() the data. */
struct bytes {
	uint8_t *data;
	size_t len, room;
};

/* Returns 0 or -ENOMEM. */
int bytes_add(struct bytes *b, const void *data, size_t len);

/* The texts and numbers of the snapshots before, which writer and reader know. */
struct codec;

struct codec *codec_new(void); /* NULL: no memory */
void codec_free(struct codec *c);

/* Adds the snapshot to @to. Returns 0, -ENOMEM, or -E2BIG: it has more entries than a recording may have. */
int snapshot_encode(struct codec *c, const struct snapshot *s, struct bytes *to);

/* Reads a snapshot into @s, which must be empty. Texts that are pointers are valid until codec_free(). Returns 0, -ENOMEM,
 * or -EBADMSG: it is damaged. */
int snapshot_decode(struct codec *c, const uint8_t *bytes, size_t size, struct snapshot *s);
