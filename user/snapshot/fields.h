/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The entries of a snapshot. Each field has one line, in calls_fields.h, fault_counts_fields.h or self_fields.h. It declares the
 * member of the entry's struct, and says what the field means: table.c makes rows of the same lines, by which entries are found,
 * subtracted and recorded. */
#pragma once

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
