/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The entries of a snapshot. Each field has one line, in calls_fields.h, fault_counts_fields.h or self_fields.h. It declares the
 * member of the entry's struct, and says what the field means: table.c makes rows of the same lines, by which entries are found,
 * subtracted and recorded. */
#pragma once

#include <stddef.h>

enum table_id {
	TABLE_SNAPSHOT, /* the struct itself, as one entry: .entries is not used */
#define TABLE_ROW(table, ...) TABLE_##table,
#include "tables.inc"
	TABLES,
};

/* The entry with the labels of @like; a new one is a copy of @like without counters and gauges. */
void *table_get_like(enum table_id id, void *part, const void *like);

/* The entry with these labels, or a new one of zeros, which table_append() adds. @labels: a text, or a pointer to a number, for
 * each label. A text that does not fit is cut. */
void *table_get(enum table_id id, void *part, const void *const *labels);

/* Defines @name(): the entry of @table in the part @c with these labels, or a new one. */
#define ENTRIES(type, name, table, parameters, ...)                               \
	static inline struct type *name parameters                                \
	{                                                                         \
		return table_get(table, c, (const void *const[]){ __VA_ARGS__ }); \
	}

/* An entry, up to ENTRY_END. Its labels are its first fields. */
#define ENTRY(name) struct name {
/* A member of the entry @of. @role: an enum field_role without FIELD_; what follows are members of struct field. */
#define FIELD(of, role, type, member, ...) __typeof__(type) member;
/* A member that is not recorded, or only in parts: */
#define UNRECORDED(type, member) __typeof__(type) member;
#define FIELD_PART(of, role, part, ...)
/* clang-format off */
#define ENTRY_END };
/* clang-format on */
