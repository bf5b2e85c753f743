/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of a snapshot, a row for each: finding, adding, subtracting and recording entries work from
 * these rows. A field without a row fails tests/includes.py. */
#pragma once

#include "base/span.h"
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
	FIELD_CHOICE, /* an enum, uint32_t; in files one of .names */
	FIELD_SET, /* uint64_t: bits; in files those of .names */
	FIELD_OTHER, /* bytes; in no file */
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
	const char *name; /* in files: that of the member */
	size_t offset; /* in the entry */
	size_t size; /* bytes */
	size_t count; /* elements; of a text: bytes */
	size_t delta; /* offset of its difference in the entry of struct delta; 0: it has none */
	enum field_type type;
	enum field_role role;
	bool sums; /* of histograms, only the sums have a difference */
	bool left_out; /* of files */
	/* Of an array or a set whose elements have names; a FIELD_CHOICE is one of them. */
	const char *const *names;
	size_t name_count;
	int fact; /* enum rpc_fact, + the element's place: without it that is unknown; 0: none */
	uint64_t most; /* of a number that is read back; 0: as the type allows */
};

/* A row of a table of fields. */
#define MEMBER(type, member) (((const struct type *)NULL)->member)
#define ROW(type_, as, what, member, ...)                                                  \
	{                                                                                  \
		.name = #member, .offset = offsetof(struct type_, member),                 \
		.size = sizeof(MEMBER(type_, member)),                                     \
		.count = sizeof(MEMBER(type_, member)) / SIZE_OF_##as, .type = FIELD_##as, \
		.role = FIELD_##what, __VA_ARGS__                                          \
	}

#define SIZE_OF_TEXT 1
#define SIZE_OF_NAME 8
#define SIZE_OF_U64 8
#define SIZE_OF_U32 4
#define SIZE_OF_BOOL 1
#define SIZE_OF_DOUBLE 8
#define SIZE_OF_SIZE 8
#define SIZE_OF_TIMES 8
#define SIZE_OF_CHOICE 4
#define SIZE_OF_SET 8
#define SIZE_OF_OTHER 1

/* An array of a part of the snapshot: of its struct calls, fault_counts or self. */
struct table {
	const char *name; /* in files: that of the array */
	size_t part; /* its offset in the snapshot */
	size_t array, entries; /* offsets of the array and its count in the part */
	size_t size; /* of an entry */
	size_t max; /* entries that a file may have; 0: the table is in none */
	bool fixed; /* the array is in the part itself; else allocated */
	const struct field *fields;
	size_t field_count;
	/* The same of the array in struct delta; its entries begin with a pointer to the entry at the end. 0: none. */
	size_t delta_array, delta_entries, delta_size;
	bool delta_all; /* entries without a difference as well, for their values at the end */
};

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

/* Appends an entry of zeros; NULL: no memory. */
void *table_append(const struct table *t, void *part);

/* Gives the part, which is a copy of another one, an array of its own. Returns 0, or -ENOMEM: then it has no entries. */
int table_copy_array(const struct table *t, void *part);

/* ---- codec.c: tables as lines of JSON, for recordings and the state file ---- */

struct table_place {
	const struct table *table;
	void *part;
	const void *before; /* the part that the entries differ from; NULL: none */
};

/* Writes one line, an object with the tables. Returns 0, -ENOMEM, or -E2BIG: a table has more entries than .max. */
int tables_write(FILE *out, const struct table_place *places, size_t count);

/* Texts that fields of the type FIELD_NAME point to. Initialise with {}. */
struct names {
	char **list;
	size_t count;
};

/* Adds such a line to what the places' parts have; a table that is not there becomes empty. @names: NULL if no table has
 * such a field. Adds to @missing the facts (RPC_FACT_BIT()) that a new entry lacks. Returns 0, -ENOMEM, or -EBADMSG: it is
 * damaged. After an error the parts can only be freed. */
int tables_read(struct span line, const struct table_place *places, size_t count,
		struct names *names, uint64_t *missing);

/* The last line of a file of such lines, by the CRC-32 of all bytes before it. Returns @text of TABLES_END_SIZE bytes. */
#define TABLES_END_SIZE sizeof("{\"end\":\"01234567\"}\n")
const char *tables_end(char *text, uint32_t checksum);

/* The snapshot before. */
struct codec;

struct codec *codec_new(void); /* NULL: no memory */
void codec_free(struct codec *c);

/* Writes the line of a snapshot. Returns as tables_write(). */
int snapshot_encode(struct codec *c, const struct snapshot *s, FILE *out);

/* Reads a line into @s, which must be empty. Texts that are pointers are valid until codec_free(). Returns 0, -ENOMEM,
 * or -EBADMSG: it is damaged. */
int snapshot_decode(struct codec *c, struct span line, struct snapshot *s);
