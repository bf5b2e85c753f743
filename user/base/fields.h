/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads files that people write: lines of fields, separated by space, tab or carriage return; '#' begins a comment. Pure. */
#pragma once

#include "base/span.h"

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
