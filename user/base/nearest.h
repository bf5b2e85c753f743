/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of several names a mistyped word was meant to be. */
#pragma once

#include "base/std.h"

/* Begin with { .word, .len }, then offer one name after the other. */
struct nearest {
	const char *word;
	size_t len;
	const char *name; /* the nearest so far; NULL: none is near */
	size_t distance; /* of @name from @word, in characters changed */
};

/* @name must outlive @n. It is near if the word is its beginning, or if at most about a
 * third of the word's characters differ. */
void nearest_offer(struct nearest *n, const char *name);
