/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of a snapshot. Each field has a row, and entries are found, added, subtracted and recorded by these rows: those of
 * entries are made of fields.h, those of the snapshot's parts are in table.c. tests/includes.py fails for a member of a part
 * without a row, unless its comment says "not recorded". */
#pragma once

#include "base/span.h"
#include "snapshot/snapshot.h"

enum field_type {
	FIELD_TEXT, /* char[] with its NUL */
	FIELD_U64, /* uint64_t[], also size_t, and structs of these */
	FIELD_U32, /* uint32_t[], also enums and int */
	FIELD_BOOL,
	FIELD_DOUBLE, /* double[] */
	FIELD_CHOICE, /* an enum, uint32_t; in files its name from .names */
	FIELD_SET, /* uint64_t: bits; in files their names from .names */
};

/* What a field means for its entry: the last column. */
enum field_role {
	FIELD_LABEL, /* names the entry; labels are an entry's first rows */
	FIELD_DETAIL, /* describes the entry */
	FIELD_COUNTER, /* uint64_t; grows, or begins again together with the entry's other counters */
	FIELD_OWN_COUNTER, /* the same, but a group of its own; it began before the entry was first seen */
	FIELD_EARLIER_COUNTER, /* the same: a second such group */
	FIELD_GAUGE, /* a value at a moment */
};

struct field {
	const char *name; /* in files: that of the member */
	size_t offset; /* in the entry */
	size_t size; /* bytes */
	enum field_type type;
	enum field_role role;
	/* The names of the elements of an array or set, or of the values of a FIELD_CHOICE. */
	const char *const *names;
	size_t name_count;
	int fact; /* the enum rpc_fact without which the field is unknown; of an array: of element 0, the others follow; 0: none */
	uint64_t most; /* the largest number accepted from a file; 0: what the type allows */
};

/* The numbers of a field, those of all its elements together. */
static inline size_t field_numbers(const struct field *f)
{
	return f->size / (f->type == FIELD_U32 ? sizeof(uint32_t) : sizeof(uint64_t));
}

/* A row of a table of fields; its type is that of the member, or of the elements of an array. */
#define ROW(of, role, member, ...) ROW_AS(TYPE(MEMBER(of, member)), of, role, member, ##__VA_ARGS__)
#define ROW_AS(type_, of, role_, member, ...)                                            \
	{                                                                                \
		.name = #member, .offset = offsetof(struct of, member),                  \
		.size = sizeof(MEMBER(of, member)) + NO_PART(type_, MEMBER(of, member)), \
		.type = (type_), .role = FIELD_##role_, ##__VA_ARGS__                    \
	}
/* 0; it does not compile if the member is no FIELD_U64 but taken for one. */
#define NO_PART(type, x) (0 * sizeof(char[(type) != FIELD_U64 || sizeof(x) % 8 == 0 ? 1 : -1]))
#define MEMBER(of, member) (((struct of *)NULL)->member)
#define TYPE(x) \
	_Generic((x),                                      \
		char *: FIELD_TEXT,                        \
		bool: FIELD_BOOL,                          \
		int: FIELD_U32,                            \
		uint32_t: FIELD_U32,                       \
		uint32_t *: FIELD_U32,                     \
		double: FIELD_DOUBLE,                      \
		double *: FIELD_DOUBLE,                    \
		default: FIELD_U64)

/* An array in a part of the snapshot. The parts are struct calls, fault_counts and self. */
struct table {
	const char *name; /* in files: that of the array */
	size_t part; /* its offset in the snapshot */
	size_t array, entries; /* offsets of the array and its count in the part */
	size_t size; /* of an entry */
	size_t max; /* most entries in a file; 0: the table is not written to files */
	size_t room; /* the array is in the part itself, for so many entries; 0: it is allocated */
	const struct field *fields;
	size_t field_count;
	bool delta_all; /* struct delta also has entries whose counters have not changed, for their gauges */
};

extern const struct table tables[TABLES];

/* The number of entries of @t in @part; their array. */
size_t table_count(const struct table *t, const void *part);
char *table_array(const struct table *t, const void *part);

/* Frees the allocated arrays of the part of the snapshot at this offset. */
void table_free_part(void *part, size_t offset);

/* The entry with the labels of the entry @like, or NULL. @at: the index of @like in its own array, which is tried first. */
void *table_like(const struct table *t, const void *part, const void *like, size_t at);

/* As table_get(), with the labels of the entry @like. */
void *table_get_labels(const struct table *t, void *part, const void *like);

/* Whether a counter has changed. */
bool table_changed(const struct table *t, const void *now, const void *then);

/* Subtracts the counters of @then from those of @entry, by the rule in delta.h. @then NULL: the entry is new. */
void table_subtract(const struct table *t, void *entry, const void *then);

/* Appends an entry of zeros. Without memory, which memory_failed() counts, or without room, it is one that nobody reads. */
void *table_append(const struct table *t, void *part);

/* Removes an entry; those behind it move. */
void table_remove(const struct table *t, void *part, void *entry);

/* Copies the entries of the part @from to @to, which has none. Without memory it stays so, see memory_failed(). */
void table_copy(const struct table *t, const void *from, void *to);

/* Does so for the tables from @first on whose entries count calls. */
void calls_copy(struct calls *c, const struct calls *from, enum table_id first);

/* Copies @from to @to, whose arrays are freed. Returns 0 or -ENOMEM. */
int snapshot_copy(struct snapshot *to, const struct snapshot *from);

/* ---- codec.c: tables as lines of JSON, for recordings and the state file ---- */

struct table_place {
	const struct table *table;
	void *part;
	const void *before; /* the part of the line before, to write differences to; NULL: none */
};

/* Writes one line, an object with the tables. Returns 0, -ENOMEM, or -E2BIG: a table has more entries than .max. */
int tables_write(FILE *out, const struct table_place *places, size_t count);

/* Reads such a line into the parts of @places, which have the values of the line before. A table that the line lacks becomes
 * empty. Adds to @missing the facts (RPC_FACT_BIT()) whose fields a new entry lacks. Returns 0, -ENOMEM, or -EBADMSG if the line
 * is damaged. After an error the parts can only be freed. */
int tables_read(struct span line, const struct table_place *places, size_t count,
		uint64_t *missing);

/* The last line of a file of such lines, with the CRC-32 of all bytes before it. Returns @text, of TABLES_END_SIZE bytes. */
#define TABLES_END_SIZE sizeof("{\"end\":\"01234567\"}\n")
const char *tables_end(char *text, uint32_t checksum);

/* The state of a coder. Initialise with {}; free .before by snapshot_free(). */
struct codec {
	struct snapshot before; /* the line before */
	uint64_t missing; /* facts that the file does not have */
};

/* Writes the line of a snapshot. Returns as tables_write(). */
int snapshot_encode(struct codec *c, const struct snapshot *s, FILE *out);

/* Reads a line into @s, which must be empty. Returns 0, -ENOMEM, or -EBADMSG: it is damaged. */
int snapshot_decode(struct codec *c, struct span line, struct snapshot *s);
